/*
 * Preloaded into a server: appends each change of the files below RECORD_FOLDER to RECORD_LOG, in the order in which the
 * kernel gets them. A record is a header, the path, and the bytes or the second path; recording.ts reads them. Calls are
 * made one at a time, so that the order of the log is that of the files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC, RENAME, UNLINK, CREATE };
enum { MOST_FILES = 4096 };

typedef struct {
  uint8_t kind, unused;
  uint16_t path_bytes;
  uint32_t data_bytes;
  uint64_t offset;
} header;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *path;
  ino_t inode;
} files[MOST_FILES];
static const char *folder;
static int log_file = -1;

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  folder = getenv("RECORD_FOLDER");
  const char *log = getenv("RECORD_LOG");
  if (!folder || !log) return;
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  log_file = real(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* The shared memory of readers is no content: SQLite makes it again at each start. */
static const char *below(const char *path) {
  if (log_file < 0 || !path) return NULL;
  size_t length = strlen(folder), all = strlen(path);
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  if (all > 4 && strcmp(path + all - 4, "-shm") == 0) return NULL;
  return path + length + 1;
}

/* The C library closes some files by itself, and their numbers are used again. */
static const char *path_of(int file) {
  struct stat about;
  if (file < 0 || file >= MOST_FILES || !files[file].path) return NULL;
  return fstat(file, &about) == 0 && about.st_ino == files[file].inode ? files[file].path : NULL;
}

static void note(int kind, const char *path, uint64_t offset, const void *data, size_t bytes) {
  header head = {kind, 0, (uint16_t)strlen(path), (uint32_t)bytes, offset};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)path, head.path_bytes}, {(void *)data, bytes}};
  int before = errno;
  REAL(writev);
  if (real(log_file, parts, 3) != (ssize_t)(sizeof head + head.path_bytes + bytes)) abort();
  errno = before;
}

static int opened(int file, const char *name, int flags, int is_new) {
  struct stat about;
  if (file < 0 || file >= MOST_FILES || fstat(file, &about) != 0) return file;
  free(files[file].path);
  files[file].path = strdup(name);
  files[file].inode = about.st_ino;
  if (is_new) note(CREATE, name, 0, NULL, 0);
  else if (flags & O_TRUNC) note(TRUNCATE, name, 0, NULL, 0);
  return file;
}

#define OPEN(name, parameters, arguments) \
  int name parameters { \
    mode_t mode = 0; \
    if (flags & O_CREAT) { \
      va_list rest; \
      va_start(rest, flags); \
      mode = va_arg(rest, mode_t); \
      va_end(rest); \
    } \
    REAL(name); \
    const char *path_below = below(path); \
    if (!path_below) return real arguments; \
    pthread_mutex_lock(&turn); \
    int is_new = (flags & O_CREAT) && access(path, F_OK) != 0; \
    int file = opened(real arguments, path_below, flags, is_new); \
    pthread_mutex_unlock(&turn); \
    return file; \
  }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))

int close(int file) {
  REAL(close);
  pthread_mutex_lock(&turn);
  if (path_of(file)) {
    free(files[file].path);
    files[file].path = NULL;
  }
  pthread_mutex_unlock(&turn);
  return real(file);
}

static off_t place(int file) {
  if (!(fcntl(file, F_GETFL) & O_APPEND)) return lseek(file, 0, SEEK_CUR);
  struct stat about;
  return fstat(file, &about) == 0 ? about.st_size : 0;
}

/* A write that is cut short would make the log wrong, and none is on a local disk. */
#define WRITE_CALL(name, parameters, arguments, offset, note_all) \
  ssize_t name parameters { \
    REAL(name); \
    const char *path = path_of(file); \
    if (!path) return real arguments; \
    pthread_mutex_lock(&turn); \
    uint64_t at = (uint64_t)(offset); \
    note_all; \
    ssize_t done = real arguments; \
    pthread_mutex_unlock(&turn); \
    return done; \
  }
#define NOTE_PARTS \
  for (int i = 0; i < count; i++) { \
    note(WRITE, path, at, parts[i].iov_base, parts[i].iov_len); \
    at += parts[i].iov_len; \
  }
WRITE_CALL(write, (int file, const void *data, size_t bytes), (file, data, bytes), place(file),
           note(WRITE, path, at, data, bytes))
WRITE_CALL(pwrite, (int file, const void *data, size_t bytes, off_t to), (file, data, bytes, to), to,
           note(WRITE, path, at, data, bytes))
WRITE_CALL(pwrite64, (int file, const void *data, size_t bytes, off64_t to), (file, data, bytes, to), to,
           note(WRITE, path, at, data, bytes))
WRITE_CALL(writev, (int file, const struct iovec *parts, int count), (file, parts, count), place(file), NOTE_PARTS)
WRITE_CALL(pwritev, (int file, const struct iovec *parts, int count, off_t to), (file, parts, count, to), to, NOTE_PARTS)
WRITE_CALL(pwritev64, (int file, const struct iovec *parts, int count, off64_t to), (file, parts, count, to), to,
           NOTE_PARTS)

#define TRUNCATE_CALL(name, type) \
  int name(int file, type size) { \
    REAL(name); \
    const char *path = path_of(file); \
    if (!path) return real(file, size); \
    pthread_mutex_lock(&turn); \
    note(TRUNCATE, path, (uint64_t)size, NULL, 0); \
    int result = real(file, size); \
    pthread_mutex_unlock(&turn); \
    return result; \
  }
TRUNCATE_CALL(ftruncate, off_t)
TRUNCATE_CALL(ftruncate64, off64_t)

/* Noted once it is done: until then nothing is sure. */
#define SYNC_CALL(name) \
  int name(int file) { \
    REAL(name); \
    const char *path = path_of(file); \
    if (!path) return real(file); \
    pthread_mutex_lock(&turn); \
    int result = real(file); \
    if (result == 0) note(SYNC, path, 0, NULL, 0); \
    pthread_mutex_unlock(&turn); \
    return result; \
  }
SYNC_CALL(fsync)
SYNC_CALL(fdatasync)

int rename(const char *from, const char *to) {
  REAL(rename);
  const char *one = below(from), *other = below(to);
  if (!one || !other) return real(from, to);
  pthread_mutex_lock(&turn);
  int result = real(from, to);
  if (result == 0) note(RENAME, one, 0, other, strlen(other));
  pthread_mutex_unlock(&turn);
  return result;
}

static int removed(int result, const char *path) {
  if (result == 0) note(UNLINK, path, 0, NULL, 0);
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  const char *name = below(path);
  if (!name) return real(path);
  pthread_mutex_lock(&turn);
  int result = removed(real(path), name);
  pthread_mutex_unlock(&turn);
  return result;
}

int unlinkat(int at, const char *path, int flags) {
  REAL(unlinkat);
  const char *name = below(path);
  if (!name) return real(at, path, flags);
  pthread_mutex_lock(&turn);
  int result = removed(real(at, path, flags), name);
  pthread_mutex_unlock(&turn);
  return result;
}
