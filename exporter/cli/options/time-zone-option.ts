import { isTimeZone } from '../../imports/reading/wall-time.ts';
import { text, type Option } from './options.ts';

/** The zone of times that a result reports without one. */
export const timeZoneOption = (help: string): Option<string | null> => ({
  ...text('ZONE', help, null),
  parse(given) {
    const name = given.at(-1) ?? '';
    if (!isTimeZone(name)) throw new Error('a time zone such as UTC or Europe/Berlin');
    return name;
  },
});
