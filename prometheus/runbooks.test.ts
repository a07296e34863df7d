import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { RUNBOOKS_URL, withRunbooks } from './runbooks.ts';

const servers = readFileSync(new URL('alerts/servers.yml', import.meta.url), 'utf8');
const urls = (yaml: string): string[] => [...yaml.matchAll(/runbook_url: (.*)/g)].map(([, url = '']) => url);

test('the links to runbooks move below another URL, and back', () => {
  const moved = withRunbooks(servers, 'https://wiki.example/llm/runbooks/');
  expect(urls(moved)[0]).toBe('https://wiki.example/llm/runbooks/LlmQueueSaturated.md');
  expect(urls(moved).every((url) => url.startsWith('https://wiki.example/llm/runbooks/Llm'))).toBe(true);
  expect(withRunbooks(moved, RUNBOOKS_URL)).toBe(servers);
});

test.each(['docs/runbooks', 'javascript:alert(1)'])('%s is refused: a link has to be absolute', (base) => {
  expect(() => withRunbooks(servers, base)).toThrow(TypeError);
});
