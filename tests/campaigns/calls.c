/* Counts the system calls that change files below a directory, and does harm at one of them; or
 * records them all with what they write. Those that read there, or ask what is there, have a count
 * of their own, and one of them can be made to fail.
 *
 * Preloaded by calls.py, which arms it in a fork of its own process. Nothing else is changed: a call
 * that concerns other files, or comes before the one that is meant, does what it always does.
 *
 * A record is a line "kind inode number length", a line for each of two paths, and `length` bytes of
 * data; powerloss.py has the kinds. Calls that are recorded are done one after the other.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum harm { NONE, KILL_BEFORE, KILL_AFTER, KILL_HALF, FAIL, SHORT, FAIL_FROM_HERE, STOP, FAIL_READ };

static char directory[PATH_MAX];
static long wanted;
static enum harm harm;
static int error;
static int record = -1;
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static long *count; /* of the calls that change, and of those that read; shared with the fork */

__attribute__((constructor)) static void make_count(void)
{
    count = mmap(NULL, 2 * sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* From now on, do harm at the number-th call; 0: only count. */
void calls_arm(const char *below, long number, int how, int with)
{
    snprintf(directory, sizeof directory, "%s", below);
    wanted = number, harm = how, error = with;
    count[0] = count[1] = 0;
}

/* reads: of the calls that read; otherwise of those that change. */
long calls_count(int reads)
{
    return count[reads];
}

/* The absolute path of a name in an open folder, or of what is open itself; "" if it is relative to
 * the process. */
static const char *place_of(int folder, const char *path, char place[PATH_MAX])
{
    char name[64];
    ssize_t found = 0;

    if (path && *path == '/')
        return path;
    if (folder != AT_FDCWD) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
        found = readlink(name, place, PATH_MAX - 1);
    }
    place[found < 0 ? 0 : found] = 0;
    if (path && *place)
        snprintf(place + found, PATH_MAX - found, "/%s", path);
    return place;
}

static int is_below(int folder, const char *path)
{
    char place[PATH_MAX];
    size_t length = strlen(directory);

    if (!length)
        return 0;
    path = place_of(folder, path, place);
    return !strncmp(path, directory, length) && (!path[length] || path[length] == '/');
}

/* What is to become of this call: NONE, or what the harm is. */
static enum harm next_call(int folder, const char *path)
{
    if (!is_below(folder, path))
        return NONE;
    long number = __sync_add_and_fetch(count, 1);
    if (!wanted || number < wanted || (number > wanted && harm != FAIL_FROM_HERE) ||
        harm == FAIL_READ)
        return NONE;
    if (harm == KILL_BEFORE) {
        pthread_mutex_lock(&recording); /* what others have begun is done and recorded */
        kill(getpid(), SIGKILL);
    }
    if (harm == STOP)
        raise(SIGSTOP);
    return harm;
}

/* Whether this call, which reads, is to fail; then the error is set. */
static int read_fails(int folder, const char *path)
{
    if (!is_below(folder, path) || __sync_add_and_fetch(count + 1, 1) != wanted || harm != FAIL_READ)
        return 0;
    errno = error;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* From now on, add to a file what is done to files below the directory. */
void calls_record(const char *file)
{
    record = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
}

/* Note a call that has been done: on an open file (AT_FDCWD: none), or on a name. */
static void note(char kind, int file, int folder, const char *path, const char *from, long number,
                 const void *data, long length)
{
    ssize_t (*put)(int, const void *, size_t) = REAL(write);
    char place[PATH_MAX], other[PATH_MAX], head[2 * PATH_MAX + 100];
    struct stat about = {0};

    if (file != AT_FDCWD)
        fstat(file, &about);
    else if (kind == 'm')
        stat(place_of(folder, path, place), &about);
    int size = snprintf(head, sizeof head, "%c %lu %ld %ld\n%s\n%s\n", kind,
                        (unsigned long)about.st_ino, number, length, place_of(folder, path, place),
                        from ? place_of(folder, from, other) : "");
    if (put(record, head, size) != size || (length && put(record, data, length) != length))
        kill(getpid(), SIGKILL);
}

/* A call that is done as a whole or not at all. kind, from, number: of its record. */
#define HARMED(kind, file, folder, path, from, number, call)     \
    do {                                                         \
        enum harm how = next_call(folder, path);                 \
        int noted = record >= 0 && is_below(folder, path);       \
        if (how == FAIL || how == FAIL_FROM_HERE) {              \
            errno = error;                                       \
            return -1;                                           \
        }                                                        \
        if (how == KILL_HALF)                                    \
            kill(getpid(), SIGKILL);                             \
        if (noted)                                               \
            pthread_mutex_lock(&recording);                      \
        int result = (call);                                     \
        if (noted && result >= 0)                                \
            note(kind, file, folder, path, from, number, NULL, 0); \
        if (noted)                                               \
            pthread_mutex_unlock(&recording);                    \
        if (how == KILL_AFTER)                                   \
            kill(getpid(), SIGKILL);                             \
        return result;                                           \
    } while (0)

#define OPENS(name, arguments, folder, path, ...)                \
    int name arguments                                           \
    {                                                            \
        mode_t mode = 0;                                         \
        if (flags & O_CREAT) {                                   \
            va_list rest;                                        \
            va_start(rest, flags);                               \
            mode = va_arg(rest, mode_t);                         \
            va_end(rest);                                        \
        }                                                        \
        if (!(flags & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR)) && read_fails(folder, path)) \
            return -1;                                           \
        if (!(flags & (O_CREAT | O_TRUNC)))                      \
            return REAL(name)(__VA_ARGS__, flags, mode);         \
        HARMED('o', result, folder, path, NULL, flags & O_TRUNC ? 1 : 0, \
               REAL(name)(__VA_ARGS__, flags, mode));            \
    }

OPENS(open, (const char *path, int flags, ...), AT_FDCWD, path, path)
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, path, path)
OPENS(openat, (int folder, const char *path, int flags, ...), folder, path, folder, path)
OPENS(openat64, (int folder, const char *path, int flags, ...), folder, path, folder, path)

ssize_t write(int file, const void *data, size_t size)
{
    ssize_t (*real)(int, const void *, size_t) = REAL(write);
    enum harm how = next_call(file, NULL);

    if (how == FAIL || how == FAIL_FROM_HERE) {
        errno = error;
        return -1;
    }
    if (how == KILL_HALF || how == SHORT)
        size = (size + 1) / 2;
    int noted = record >= 0 && is_below(file, NULL);
    if (noted)
        pthread_mutex_lock(&recording);
    ssize_t result = real(file, data, size);
    if (noted && result > 0)
        note('w', file, file, NULL, NULL, lseek(file, 0, SEEK_CUR) - result, data, result);
    if (noted)
        pthread_mutex_unlock(&recording);
    if (how == KILL_HALF || how == KILL_AFTER)
        kill(getpid(), SIGKILL);
    return result;
}

int rename(const char *from, const char *to)
{
    HARMED('r', AT_FDCWD, AT_FDCWD, to, from, 0, REAL(rename)(from, to));
}

int renameat(int a, const char *from, int b, const char *to)
{
    HARMED('r', AT_FDCWD, b, to, from, 0, REAL(renameat)(a, from, b, to));
}

int unlink(const char *path)
{
    HARMED('u', AT_FDCWD, AT_FDCWD, path, NULL, 0, REAL(unlink)(path));
}

int unlinkat(int folder, const char *path, int flags)
{
    HARMED('u', AT_FDCWD, folder, path, NULL, 0, REAL(unlinkat)(folder, path, flags));
}

int rmdir(const char *path)
{
    HARMED('u', AT_FDCWD, AT_FDCWD, path, NULL, 0, REAL(rmdir)(path));
}

int mkdir(const char *path, mode_t mode)
{
    HARMED('m', AT_FDCWD, AT_FDCWD, path, NULL, 0, REAL(mkdir)(path, mode));
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    HARMED('m', AT_FDCWD, folder, path, NULL, 0, REAL(mkdirat)(folder, path, mode));
}

int ftruncate(int file, off_t size)
{
    HARMED('t', file, file, NULL, NULL, size, REAL(ftruncate)(file, size));
}

int ftruncate64(int file, off64_t size)
{
    HARMED('t', file, file, NULL, NULL, size, REAL(ftruncate64)(file, size));
}

int fsync(int file)
{
    HARMED('s', file, file, NULL, NULL, 0, REAL(fsync)(file));
}

/* What reads, or asks what is there. */
#define READS(type, failed, name, arguments, folder, path, ...)  \
    type name arguments                                          \
    {                                                            \
        return read_fails(folder, path) ? failed : REAL(name)(__VA_ARGS__); \
    }

typedef struct stat About;
typedef struct stat64 About64;
typedef struct statx AboutX;
typedef struct dirent Entry;
typedef struct dirent64 Entry64;
typedef const struct iovec Views;

READS(int, -1, stat, (const char *path, About *to), AT_FDCWD, path, path, to)
READS(int, -1, stat64, (const char *path, About64 *to), AT_FDCWD, path, path, to)
READS(int, -1, lstat, (const char *path, About *to), AT_FDCWD, path, path, to)
READS(int, -1, lstat64, (const char *path, About64 *to), AT_FDCWD, path, path, to)
READS(int, -1, fstat, (int file, About *to), file, NULL, file, to)
READS(int, -1, fstat64, (int file, About64 *to), file, NULL, file, to)
READS(int, -1, fstatat, (int at, const char *path, About *to, int how), at, path, at, path, to, how)
READS(int, -1, fstatat64, (int at, const char *path, About64 *to, int how), at, path, at, path, to,
      how)
READS(int, -1, statx, (int at, const char *path, int how, unsigned mask, AboutX *to), at, path, at,
      path, how, mask, to)
READS(DIR *, NULL, opendir, (const char *path), AT_FDCWD, path, path)
READS(Entry *, NULL, readdir, (DIR *of), dirfd(of), NULL, of)
READS(Entry64 *, NULL, readdir64, (DIR *of), dirfd(of), NULL, of)
READS(ssize_t, -1, read, (int file, void *to, size_t size), file, NULL, file, to, size)
READS(ssize_t, -1, pread, (int file, void *to, size_t size, off_t at), file, NULL, file, to, size,
      at)
READS(ssize_t, -1, pread64, (int file, void *to, size_t size, off64_t at), file, NULL, file, to,
      size, at)
READS(ssize_t, -1, preadv, (int file, Views *to, int views, off_t at), file, NULL, file, to, views,
      at)
READS(ssize_t, -1, preadv64, (int file, Views *to, int views, off64_t at), file, NULL, file, to,
      views, at)
READS(ssize_t, -1, sendfile, (int to, int file, off_t *at, size_t size), file, NULL, to, file, at,
      size)
READS(ssize_t, -1, sendfile64, (int to, int file, off64_t *at, size_t size), file, NULL, to, file,
      at, size)
