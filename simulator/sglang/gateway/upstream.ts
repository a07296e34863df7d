import { Agent, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';

/** The connections to the workers. */
export class Upstream {
  readonly #agent = new Agent({ keepAlive: true });

  /**
   * Sends a request to a worker.
   *
   * @param started is given the request at once, so that it can be ended
   * @returns the head of the response
   * @throws Error when there is none
   */
  send(
    url: string,
    body: string | null,
    started: (sent: ClientRequest) => void = () => undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers =
        body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const sent = request(url, { agent: this.#agent, method: body === null ? 'GET' : 'POST', headers }, resolve);
      sent.once('error', reject);
      started(sent);
      sent.end(body ?? undefined);
    });
  }

  /** The body of a `GET` that is answered with 200. */
  async text(url: string): Promise<string> {
    const response = await this.send(url, null);
    const pieces: Buffer[] = [];
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece);
    if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`);
    return Buffer.concat(pieces).toString('utf8');
  }

  /** Whether a `GET` is answered with 200. */
  async answersOk(url: string): Promise<boolean> {
    try {
      await this.text(url);
      return true;
    } catch {
      // Refused, cut or not 200: the reason does not matter, a health check knows only good and bad.
      return false;
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}
