import { describe, expect, test } from '@jest/globals';
import { CliError } from '../failure.ts';
import { choice, flag, integer, readArguments, readOptions, seconds, text, texts } from './options.ts';

const OPTIONS = {
  url: text('URL', 'where', null),
  concurrency: integer('how many', { min: 1, max: 100 }, 1),
  'benchmark-duration': seconds('how long', { min: 0.1, max: 10 }, null),
  linger: choice(['auto', 'no'] as const, 'stay', 'auto'),
  header: texts('NAME:VALUE', 'more headers'),
  json: flag('for machines'),
};

const read = (argv: readonly string[], environment: NodeJS.ProcessEnv = {}) => readOptions(OPTIONS, argv, environment);

describe('what is given', () => {
  test('nothing: the defaults', () => {
    expect(read([])).toEqual({
      url: null,
      concurrency: 1,
      'benchmark-duration': null,
      linger: 'auto',
      header: [],
      json: false,
    });
  });

  test('flags with a space or an equals sign, the last one wins, repeated ones add up', () => {
    const values = read(['--concurrency', '4', '--concurrency=8', '--header', 'a: 1', '--header=b: 2', '--json']);
    expect(values).toMatchObject({ concurrency: 8, header: ['a: 1', 'b: 2'], json: true });
  });

  test('an environment variable stands in for a flag, and the flag wins', () => {
    const environment = { LLMBENCH_CONCURRENCY: '16', LLMBENCH_BENCHMARK_DURATION: '2.5' };
    expect(read([], environment)).toMatchObject({ concurrency: 16, 'benchmark-duration': 2.5 });
    expect(read(['--concurrency', '2'], environment).concurrency).toBe(2);
  });

  test('a value may begin with one dash', () => {
    expect(read(['--url', '-weird']).url).toBe('-weird');
  });
});

describe('what is refused, in one line that names flag, value and what is allowed', () => {
  test.each([
    [['--concurency', '4'], '--concurency is not an option; did you mean --concurrency?'],
    [['--duration', '4'], '--duration is not an option; did you mean --benchmark-duration?'],
    [['--zzz'], '--zzz is not an option; --help lists them'],
    [['--constructor'], '--constructor is not an option; --help lists them'],
    [['--concurrency', '0'], "--concurrency is '0' and must be a whole number from 1 to 100"],
    [['--concurrency', '2.5'], "--concurrency is '2.5' and must be a whole number from 1 to 100"],
    [['--concurrency', ''], "--concurrency is '' and must be a whole number from 1 to 100"],
    [['--concurrency', 'Infinity'], "--concurrency is 'Infinity' and must be a whole number from 1 to 100"],
    [['--benchmark-duration', '99'], "--benchmark-duration is '99' and must be a number from 0.1 to 10"],
    [['--linger', 'forever'], "--linger is 'forever' and must be one of auto, no"],
    [['--url'], '--url requires a value: --url URL'],
    [['--url', '--json'], '--url requires a value: --url URL'],
    [['http://localhost'], "unexpected argument 'http://localhost': options begin with --"],
  ])('%j', (argv, message) => {
    expect(() => read(argv)).toThrow(new CliError(message));
  });

  test('all of them together, one in a line', () => {
    const argv = ['--concurency', '4', 'http://localhost', '--linger', 'forever', '--url', '--json', '--zzz=1'];
    expect(() => read(argv, { LLMBENCH_BENCHMARK_DURATION: '99' })).toThrow(
      new CliError(
        [
          '6 arguments are wrong:',
          '  --concurency is not an option; did you mean --concurrency?',
          '  --url requires a value: --url URL',
          '  --zzz is not an option; --help lists them',
          "  unexpected argument 'http://localhost': options begin with --",
          "  LLMBENCH_BENCHMARK_DURATION is '99' and must be a number from 0.1 to 10",
          "  --linger is 'forever' and must be one of auto, no",
        ].join('\n'),
      ),
    );
  });

  test('a flag of another program is answered, with its value', () => {
    const foreign = { answer: (flag: string, value: string | null) => (flag === '--pace' ? `use ${value}` : null) };
    const wrong = (argv: readonly string[]) => () => readOptions(OPTIONS, argv, {}, undefined, foreign);
    expect(wrong(['--pace', '3'])).toThrow(new CliError('--pace is not an option; use 3'));
    expect(wrong(['--pace=4'])).toThrow(new CliError('--pace is not an option; use 4'));
    expect(wrong(['--pace', '--json'])).toThrow(new CliError('--pace is not an option; use null'));
  });

  test('a wrong environment variable is named as such', () => {
    expect(() => read([], { LLMBENCH_CONCURRENCY: 'many' })).toThrow(
      "LLMBENCH_CONCURRENCY is 'many' and must be a whole number from 1 to 100",
    );
  });
});

describe('arguments without a flag, where a command takes them', () => {
  const arguments_ = (argv: readonly string[], most = 1) => readArguments(OPTIONS, argv, {}, { name: 'METRIC', most });

  test.each([
    [['a:b'], ['a:b']],
    [['--json', 'a'], ['a']],
    [['a', '--concurrency', '4'], ['a']],
    [['--', '--json'], ['--json']],
    [[], []],
  ])('%j', (argv, positionals) => {
    expect(arguments_(argv).positionals).toEqual(positionals);
  });

  test('stand beside options', () => {
    expect(arguments_(['a', '--concurrency', '4', '--json']).values).toMatchObject({ concurrency: 4, json: true });
  });

  test('an unexpected argument is refused, and named', () => {
    expect(() => arguments_(['a', 'b', 'c'])).toThrow(new CliError("unexpected argument 'b': at most 1 METRIC"));
    expect(() => arguments_(['a'], 0)).toThrow(new CliError("unexpected argument 'a': options begin with --"));
  });
});
