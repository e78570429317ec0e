"""How slabs are compressed, checked and kept in memory."""
