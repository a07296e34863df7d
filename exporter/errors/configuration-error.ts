import { ExpectedError } from './expected-error.ts';

/** An invalid configuration: one line with the file or option, its value and the allowed values. */
export class ConfigurationError extends ExpectedError {
  override readonly name = 'ConfigurationError';

  constructor(message: string, options?: ErrorOptions) {
    super('configuration', message, options);
  }
}
