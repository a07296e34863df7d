import { describe, expect, test } from '@jest/globals';
import { response, scriptedServer } from '../testing/scripted-server.ts';
import { TRANSPORTS } from '../testing/transport-kinds.ts';
import { oneRequest } from '../testing/one-request.ts';
import { chat } from '../endpoints/openai.ts';
import { parseTarget } from './target.ts';

const EVIL = 'Host: evil.example';

describe.each(TRANSPORTS)('%s', (_, open) => {
  test.each([
    ['encoded', 'http://h/a%0d%0aHost:%20evil.example', '/a%0d%0aHost:%20evil.example/v1/chat/completions'],
    ['encoded twice', 'http://h/%250d%250aX:y', '/%250d%250aX:y/v1/chat/completions'],
    ['in the query', 'http://h/?a=%0d%0aHost:%20evil.example', '/v1/chat/completions?a=%0d%0aHost:%20evil.example'],
    ['as it is', 'http://h/a\r\nHost: evil.example', '/aHost:%20evil.example/v1/chat/completions'],
    ['in the query, as it is', 'http://h/?a=\r\nHost: evil.example', '/v1/chat/completions?a=Host:%20evil.example'],
  ])('a line break in the path, %s, begins no header', async (_name, url, sent) => {
    const server = await scriptedServer((socket) => socket.write(response('404 X', 'text/plain', '')));
    const { path } = parseTarget(url, chat);
    const transport = open({ origin: server.origin });
    await oneRequest(transport, undefined, [], { endpoint: { ...chat, path } });
    await transport.close();
    await server.close();
    const [{ head = '' } = {}] = server.requests;
    expect(head.split('\r\n')[0]).toBe(`POST ${sent} HTTP/1.1`);
    expect(head).not.toContain(`\r\n${EVIL}`);
    expect(head.match(/^host:/gim)).toHaveLength(1);
  });
});
