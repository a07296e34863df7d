/**
 * The bytes of a response are not the subset of HTTP/1.1 (RFC 9112) that the raw transport accepts. The message
 * contains none of them.
 */
export class FramingError extends Error {}
