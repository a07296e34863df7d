import { writeMessage } from './message.ts';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Level = 'INFO' | 'WARN' | 'ERROR';

/** Messages of a command that runs as a service, one line each. */
export interface ServiceLog {
  info(message: string, attributes?: LogAttributes): void;
  /** Something is wrong and the service continues. */
  warn(message: string): void;
  /** The service ends. */
  error(message: string): void;
}

/** Further members of a JSON line; text lines leave them out, since the message contains what people need. */
export type LogAttributes = Readonly<Record<string, string | number>>;

/**
 * Text as it is, or JSON lines with the members that Prometheus writes with `--log.format=json`: `time` (RFC 3339 in UTC),
 * `level`, `msg`.
 */
export function serviceLog(format: LogFormat, out: NodeJS.WriteStream): ServiceLog {
  const write = (level: Level, msg: string, attributes: LogAttributes = {}): void => {
    if (format === 'text') writeMessage(out, msg);
    else out.write(`${JSON.stringify({ time: new Date().toISOString(), level, msg, ...attributes })}\n`);
  };
  return {
    info: (message, attributes) => write('INFO', message, attributes),
    warn: (message) => write('WARN', message),
    error: (message) => write('ERROR', message),
  };
}
