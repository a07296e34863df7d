/** A run that must not begin as requested: nothing was sent, no run directory was created. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}
