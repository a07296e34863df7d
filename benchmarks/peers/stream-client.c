/* The limit of the machine: a client of paced-server with epoll and a parser that knows its events. Prints one JSON line.
 *
 * usage: stream-client PORT STREAMS TOKENS TTFT ITL TICK WARM_SECONDS SECONDS    (times in microseconds; jitter: $JIT) */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 65536, EVENT_BYTES = 4096, EVENTS_AT_ONCE = 512, STAMP_OFFSET = 22, STAMP_DIGITS = 19, MAX_ERRORS = 40000000 };

typedef struct {
  int fd;
  int has_first;
  int length;
  char bytes[READ_BYTES + EVENT_BYTES];
} Stream;

/* Time-stamp errors in microseconds. */
typedef struct {
  float *values;
  size_t count;
} Errors;

static char request[4096];
static int request_length;
static Errors all, first;
static uint64_t chunks;

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static double cpu_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what) {
  fprintf(stderr, "stream-client: %s\n", what);
  exit(1);
}

static void make_request(char **arguments) {
  const char *jitter = getenv("JIT");
  char body[1024];
  int body_length = sprintf(body,
                            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"%0200d\"}],"
                            "\"max_completion_tokens\":%s,\"stream\":true,\"stream_options\":{\"include_usage\":true}}",
                            7, arguments[3]);
  request_length = sprintf(request,
                           "POST /v1/chat/completions?n=%s&t=%s&i=%s&y=%s&j=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                           "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                           arguments[3], arguments[4], arguments[5], arguments[6], jitter ? jitter : arguments[5], body_length, body);
}

static void send_request(int fd) {
  if (write(fd, request, request_length) != request_length) fail("cannot send a request");
}

static int connect_to(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (connect(fd, (void *)&address, sizeof address)) fail("cannot connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void add_error(Errors *errors, float microseconds) {
  if (errors->count < MAX_ERRORS) errors->values[errors->count++] = microseconds;
}

static void count_chunk(Stream *stream, const char *data, uint64_t time) {
  uint64_t stamp = 0;
  for (int i = 0; i < STAMP_DIGITS; i++) stamp = stamp * 10 + (data[STAMP_OFFSET + i] - '0');
  float error = (float)((double)(time - stamp) / 1000);
  chunks++;
  add_error(&all, error);
  if (!stream->has_first) add_error(&first, error);
  stream->has_first = 1;
}

/* Reads what is there; sends the next request at the end of an answer. */
static void read_stream(Stream *stream) {
  ssize_t length = recv(stream->fd, stream->bytes + stream->length, READ_BYTES, MSG_DONTWAIT);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0) fail("the server closed a connection");
  uint64_t time = now();
  char *at = stream->bytes, *end = stream->bytes + stream->length + length, *event_end;
  int is_done = 0;
  for (; (event_end = memmem(at, end - at, "\n\n", 2)) != NULL; at = event_end + 2) {
    char *data = memmem(at, event_end - at, "data: ", 6);
    if (data == NULL) continue;
    if (data[6] == '[') is_done = 1;
    else if (memmem(data, event_end - data, "\"choices\":[]", 12) == NULL) count_chunk(stream, data, time);
  }
  if (is_done) {
    if (end - at < 7 || memcmp(end - 5, "0\r\n\r\n", 5) != 0) fail("the end of an answer came in two parts");
    at = end;
    stream->has_first = 0;
    send_request(stream->fd);
  }
  stream->length = end - at;
  memmove(stream->bytes, at, stream->length);
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double percentile_ms(const Errors *errors, double share) {
  return errors->count ? errors->values[(size_t)(share * (errors->count - 1))] / 1e3 : 0;
}

int main(int count, char **arguments) {
  if (count != 9) fail("usage: PORT STREAMS TOKENS TTFT ITL TICK WARM_SECONDS SECONDS");
  int streams = atoi(arguments[2]);
  make_request(arguments);
  all.values = malloc(sizeof(float) * MAX_ERRORS);
  first.values = malloc(sizeof(float) * MAX_ERRORS);
  int epoll = epoll_create1(0);
  Stream *stream = calloc(streams, sizeof *stream);
  for (int i = 0; i < streams; i++) {
    stream[i].fd = connect_to(atoi(arguments[1]));
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(epoll, EPOLL_CTL_ADD, stream[i].fd, &event);
  }
  for (int i = 0; i < streams; i++) send_request(stream[i].fd);

  uint64_t start = now() + (uint64_t)(atof(arguments[7]) * 1e9), end = start + (uint64_t)(atof(arguments[8]) * 1e9);
  double cpu = 0;
  int is_warm = 0;
  for (uint64_t time = now(); time < end; time = now()) {
    if (!is_warm && time >= start) {
      is_warm = 1;
      start = time;
      cpu = cpu_seconds();
      chunks = all.count = first.count = 0;
    }
    struct epoll_event events[EVENTS_AT_ONCE];
    int ready = epoll_wait(epoll, events, EVENTS_AT_ONCE, 10);
    for (int i = 0; i < ready; i++) read_stream(&stream[events[i].data.u32]);
  }
  double seconds = (now() - start) / 1e9;
  cpu = cpu_seconds() - cpu;
  qsort(all.values, all.count, sizeof(float), ascending);
  qsort(first.values, first.count, sizeof(float), ascending);
  printf("{\"name\":\"c\",\"cpu_us_per_chunk\":%.2f,\"chunks_per_s\":%.0f,\"ttft_err_p50_ms\":%.3f,\"err_p50_ms\":%.3f,"
         "\"err_p99_ms\":%.3f}\n",
         cpu * 1e6 / (chunks ? chunks : 1), chunks / seconds, percentile_ms(&first, 0.5), percentile_ms(&all, 0.5),
         percentile_ms(&all, 0.99));
}
