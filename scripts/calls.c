/* Counts the system calls that change files below a directory, and does harm at one of them.
 *
 * Preloaded by calls.py, which arms it in a fork of its own process. Nothing else is changed: a call
 * that concerns other files, or comes before the one that is meant, does what it always does.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum harm { NONE, KILL_BEFORE, KILL_AFTER, KILL_HALF, FAIL, SHORT, FAIL_FROM_HERE, STOP };

static char directory[PATH_MAX];
static long wanted;
static enum harm harm;
static int error;
static long *count; /* shared with the process that forks */

__attribute__((constructor)) static void make_count(void)
{
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* From now on, do harm at the number-th call; 0: only count. */
void calls_arm(const char *below, long number, int how, int with)
{
    snprintf(directory, sizeof directory, "%s", below);
    wanted = number, harm = how, error = with;
    *count = 0;
}

long calls_count(void)
{
    return *count;
}

static int is_below(int folder, const char *path)
{
    char name[64], place[PATH_MAX];
    size_t length = strlen(directory);
    ssize_t found;

    if (!length)
        return 0;
    if (!path || *path != '/') {
        if (folder == AT_FDCWD)
            return 0;
        snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
        found = readlink(name, place, sizeof place - 1);
        place[found < 0 ? 0 : found] = 0;
        path = place;
    }
    return !strncmp(path, directory, length) && (!path[length] || path[length] == '/');
}

/* What is to become of this call: NONE, or what the harm is. */
static enum harm next_call(int folder, const char *path)
{
    if (!is_below(folder, path))
        return NONE;
    long number = __sync_add_and_fetch(count, 1);
    if (!wanted || number < wanted || (number > wanted && harm != FAIL_FROM_HERE))
        return NONE;
    if (harm == KILL_BEFORE)
        kill(getpid(), SIGKILL);
    if (harm == STOP)
        raise(SIGSTOP);
    return harm;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A call that is done as a whole or not at all. */
#define HARMED(folder, path, call)                               \
    do {                                                         \
        enum harm how = next_call(folder, path);                 \
        if (how == FAIL || how == FAIL_FROM_HERE) {              \
            errno = error;                                       \
            return -1;                                           \
        }                                                        \
        if (how == KILL_HALF)                                    \
            kill(getpid(), SIGKILL);                             \
        int result = (call);                                     \
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
        if (!(flags & (O_CREAT | O_TRUNC)))                      \
            return REAL(name)(__VA_ARGS__, flags, mode);         \
        HARMED(folder, path, REAL(name)(__VA_ARGS__, flags, mode)); \
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
    ssize_t result = real(file, data, size);
    if (how == KILL_HALF || how == KILL_AFTER)
        kill(getpid(), SIGKILL);
    return result;
}

int rename(const char *from, const char *to) { HARMED(AT_FDCWD, to, REAL(rename)(from, to)); }
int unlink(const char *path) { HARMED(AT_FDCWD, path, REAL(unlink)(path)); }
int mkdir(const char *path, mode_t mode) { HARMED(AT_FDCWD, path, REAL(mkdir)(path, mode)); }
int rmdir(const char *path) { HARMED(AT_FDCWD, path, REAL(rmdir)(path)); }
int ftruncate(int file, off_t size) { HARMED(file, NULL, REAL(ftruncate)(file, size)); }
int ftruncate64(int file, off64_t size) { HARMED(file, NULL, REAL(ftruncate64)(file, size)); }
int fsync(int file) { HARMED(file, NULL, REAL(fsync)(file)); }

int renameat(int a, const char *from, int b, const char *to)
{
    HARMED(b, to, REAL(renameat)(a, from, b, to));
}

int unlinkat(int folder, const char *path, int flags)
{
    HARMED(folder, path, REAL(unlinkat)(folder, path, flags));
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    HARMED(folder, path, REAL(mkdirat)(folder, path, mode));
}
