/* Preloaded into Dynamo's processes: their ZeroMQ publishers bind 0.0.0.0 and have no option against it. Every bind to
 * all addresses becomes one to loopback. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

typedef int bind_function(int, const struct sockaddr *, socklen_t);

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  static bind_function *next;
  if (next == NULL) next = (bind_function *)dlsym(RTLD_NEXT, "bind");
  if (address != NULL && address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    struct sockaddr_in ipv4;
    memcpy(&ipv4, address, sizeof ipv4);
    if (ipv4.sin_addr.s_addr == htonl(INADDR_ANY)) ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return next(fd, (struct sockaddr *)&ipv4, sizeof ipv4);
  }
  if (address != NULL && address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
    struct sockaddr_in6 ipv6;
    memcpy(&ipv6, address, sizeof ipv6);
    if (IN6_IS_ADDR_UNSPECIFIED(&ipv6.sin6_addr)) ipv6.sin6_addr = in6addr_loopback;
    return next(fd, (struct sockaddr *)&ipv6, sizeof ipv6);
  }
  return next(fd, address, length);
}
