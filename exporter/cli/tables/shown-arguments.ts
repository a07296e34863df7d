const HEADER_FLAG = /^(--(?:[a-z-]+-)?header)(=.*)?$/s;

/** Arguments as they may be displayed: a header keeps its name only, because its value may be a secret. */
export function shownArguments(argv: readonly string[]): readonly string[] {
  return argv.map((argument, i) => {
    const [, flag = '', inline] = HEADER_FLAG.exec(argument) ?? [];
    if (inline !== undefined) return `${flag}=${nameOnly(inline.slice(1))}`;
    return HEADER_FLAG.test(argv[i - 1] ?? '') && !argv[i - 1]?.includes('=') ? nameOnly(argument) : argument;
  });
}

const nameOnly = (header: string): string => `${header.includes(':') ? header.slice(0, header.indexOf(':')) : ''}: …`;
