import type { FaultPlan } from './plan.ts';

const MILLISECONDS_PER_SECOND = 1000;

/** What can be restarted. */
export interface Listening {
  /** @returns the port */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
}

/** A server that ends and begins anew on its port as a plan says, with nothing left of what it counted. */
export class RestartingServer implements Listening {
  readonly #make: () => Listening;
  readonly #restart: FaultPlan['restart'];
  #server: Listening;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  /** The end or the beginning of a server that is under way. */
  #change: Promise<unknown> = Promise.resolve();

  constructor(make: () => Listening, restart: FaultPlan['restart']) {
    this.#make = make;
    this.#restart = restart;
    this.#server = make();
  }

  async listen(port: number, host: string): Promise<number> {
    const own = await this.#server.listen(port, host);
    if (this.#restart !== null) this.#later(this.#restart.afterSeconds, () => this.#stop(own, host));
    return own;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#change;
    await this.#server.close();
  }

  async #stop(port: number, host: string): Promise<void> {
    await this.#server.close();
    const { seconds = 0 } = this.#restart ?? {};
    this.#later(seconds, () => this.#begin(port, host));
  }

  async #begin(port: number, host: string): Promise<void> {
    this.#server = this.#make();
    await this.#server.listen(port, host);
    const { seconds = 0, everySeconds = null } = this.#restart ?? {};
    if (everySeconds !== null) this.#later(everySeconds - seconds, () => this.#stop(port, host));
  }

  #later(seconds: number, act: () => Promise<void>): void {
    if (this.#closed) return;
    const happen = (): void => {
      this.#change = act();
    };
    this.#timer = setTimeout(happen, seconds * MILLISECONDS_PER_SECOND);
  }
}
