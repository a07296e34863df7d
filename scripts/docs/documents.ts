import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

/** A page of the documentation: its path in the repository and its text. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

/** Everything that people read: the README files, CONTRIBUTING, CHANGELOG and `docs/`. */
export function documents(): Document[] {
  const inDocs = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' });
  const paths = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'grafana-plugin/README.md',
    ...inDocs.filter((name) => name.endsWith('.md') && !name.startsWith('node_modules')).map((name) => `docs/${name}`),
  ];
  return paths.map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }));
}

/** The address of a link in a page; null when it leads out of the repository. */
export function linkedFile({ path }: Document, link: string): string | null {
  if (/^[a-z]+:/.test(link)) return null;
  const [target = ''] = link.split('#');
  return fileURLToPath(new URL(target === '' ? '.' : target, new URL(path, ROOT)));
}

/** Addresses of links and pictures. */
export const linksIn = ({ text }: Document): string[] =>
  Array.from(withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link ?? '');

/** The anchors that GitHub gives to the headings of a page. */
export const anchorsIn = ({ text }: Document): Set<string> =>
  new Set(
    Array.from(withoutCode(text).matchAll(/^#+ (.*)$/gm), ([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

const withoutCode = (text: string): string => text.replace(/^( *)```.*?^\1```/gms, '');

/** A call of llmbench as a page shows it. */
export interface Call {
  /** `run`, `runs list`; empty when the call names no command. */
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

/** Every `llmbench …` in code blocks and in code within lines; lines that end in `\` go on in the next. */
export function callsIn({ text }: Document): Call[] {
  const blocks = Array.from(text.matchAll(/^( *)```[^\n]*\n(.*?)^\1```/gms), ([, , code]) => code ?? '');
  const inline = Array.from(
    text.replace(/^( *)```.*?^\1```/gms, '').matchAll(/`([^`\n]+)`/g),
    ([, code]) => code ?? '',
  );
  const lines = [...blocks.flatMap((block) => block.replace(/\\\n\s*/g, ' ').split('\n')), ...inline];
  return lines.flatMap((line) =>
    Array.from(withoutQuotes(line).matchAll(CALL), ([, words = '']) => {
      const parts = words.trim().split(/\s+/);
      return {
        words: parts.filter((part) => !part.startsWith('-')),
        flags: parts.flatMap((part) => /^(--[a-z][a-z0-9-]*)/.exec(part)?.[1] ?? []),
      };
    }),
  );
}

/** The program at the beginning of a command, up to the end of that command. */
const CALL = /(?:^|[;&|(]|&&)\s*(?:[A-Z_]+=\S* )*(?:npx )?llmbench ([^;&|)#>]*)/g;

/** Quoted text is a value. */
const withoutQuotes = (line: string): string => line.replace(/"[^"]*"|'[^']*'/g, 'QUOTED');

/** Flags that stand alone in code within a line, such as `--slo`. */
export const loneFlagsIn = ({ text }: Document): string[] =>
  Array.from(withoutCode(text).matchAll(/`(--[a-z][a-z0-9-]*)(?=[ `=])[^`\n]*`/g), ([, flag]) => flag ?? '');
