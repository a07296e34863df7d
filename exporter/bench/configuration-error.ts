/** A run that cannot be as it was asked for: one line that names the file or option, what it says and what is allowed. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
