/** An invalid configuration: one line with the file or option, its value and the allowed values. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
