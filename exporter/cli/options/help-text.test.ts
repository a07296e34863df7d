import { afterEach, describe, expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { isHelpRequested, helpText, sectionedHelp } from './help-text.ts';
import { choice, flag, integer, text } from './options.ts';
import { RUN_HELP, RUN_OPTIONS } from './run-options.ts';

const LOAD = { concurrency: integer('how many', { min: 1, max: 100 }, 1), burst: flag('all at once') };
const OUTPUT = {
  url: text('URL', 'where', null),
  linger: choice(['auto', 'no'] as const, 'stay', 'auto'),
  json: flag('for machines'),
};
const HELP = {
  usage: 'llmbench x [options]',
  sections: [
    { name: 'load', title: 'how much', options: LOAD },
    { name: 'output', title: 'what comes out', options: OUTPUT },
  ],
  common: ['url', 'concurrency'],
  examples: ['llmbench x --json'],
};

const flagsOf = (help: string): string[] =>
  Array.from(help.matchAll(/^ {2}--([a-z-]+)(?=[ \n])/gm), ([, name]) => name ?? '');

const terminal = process.stdout.columns;
afterEach(() => {
  process.stdout.columns = terminal;
});

test('the help names every option, its value and its default', () => {
  const help = helpText('llmbench x [options]', { ...OUTPUT, ...LOAD }, ['llmbench x --json']);
  expect(flagsOf(help)).toEqual(['url', 'linger', 'json', 'concurrency', 'burst']);
  for (const expected of ['--url URL', '--concurrency N', '(default 1)', '--linger auto|no', '(default auto)'])
    expect(help).toContain(expected);
  expect(help).toContain('examples:\n  llmbench x --json\n');
});

describe('a command with sections', () => {
  test('shows the most used options, and where the others are', () => {
    const help = sectionedHelp(HELP, ['--help']);
    expect(flagsOf(help)).toEqual(['url', 'concurrency']);
    expect(help).toContain('all 5 options: llmbench x --help-all');
    expect(help).toMatch(/--help=output +what comes out/);
  });

  test.each([[['--help=output']], [['--help', 'output']], [['-h', 'output']]])('shows one section with %j', (argv) => {
    expect(flagsOf(sectionedHelp(HELP, argv))).toEqual(['url', 'linger', 'json']);
  });

  test('shows all of them under their titles', () => {
    const help = sectionedHelp(HELP, ['--help-all']);
    expect(flagsOf(help)).toEqual(['concurrency', 'burst', 'url', 'linger', 'json']);
    expect(help.indexOf('how much:')).toBeLessThan(help.indexOf('--concurrency'));
  });

  test('names the sections when an unknown one is requested', () => {
    expect(() => sectionedHelp(HELP, ['--help=laod'])).toThrow(
      new CliError("--help has no section 'laod'; sections: load, output"),
    );
  });
});

test.each([['--help'], ['-h'], ['--help-all'], ['--help=load']])('%s shows help', (argument) => {
  expect(isHelpRequested(['--url', 'x', argument])).toBe(true);
});

describe('run', () => {
  const ofSections = RUN_HELP.sections.flatMap(({ options }) => Object.keys(options));

  test('has each of its options in one section', () => {
    expect([...ofSections].sort()).toEqual(Object.keys(RUN_OPTIONS).sort());
  });

  test('has only options that there are in its short help', () => {
    expect(ofSections).toEqual(expect.arrayContaining([...RUN_HELP.common]));
  });

  test.each([80, 120])('fits a terminal of %d columns', (columns) => {
    process.stdout.columns = columns;
    const lines = ['--help', '--help-all'].flatMap((wanted) => sectionedHelp(RUN_HELP, [wanted]).split('\n'));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });
});
