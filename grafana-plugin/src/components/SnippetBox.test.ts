import { readFileSync } from 'fs';
import { join } from 'path';
import { snippets } from './SnippetBox.tsx';

const PROJECT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');
const [, ...configuration] = read('prometheus/prometheus.yml').trimEnd().split('\n');
const scrape = snippets().find(({ id }) => id === 'scrape')?.text;

test('the Prometheus snippet is the whole configuration that the project ships', () => {
  expect(scrape).toBe(configuration.join('\n'));
});

test('the guide shows the same configuration', () => {
  expect(read('docs/guides/prometheus.md').replace(/^ {3}/gm, '')).toContain(scrape);
});

test('another address of the exporter is in every snippet that scrapes or queries it', () => {
  for (const { id, text } of snippets('bench.example:9470')) {
    expect(text).not.toContain('127.0.0.1:9469');
    expect(text.includes('bench.example:9470')).toBe(['scrape', 'data-source'].includes(id));
  }
});
