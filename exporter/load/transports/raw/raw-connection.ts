import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { ConnectionTimes } from '../transport.ts';
import { monotonicNow_ns } from '../../../clock/monotonic-clock.ts';

/** The current user of a connection. */
export interface ConnectionUser {
  connected(): void;
  /** buffer[0, length) was read; it is valid only during the call. */
  received(stamp_ns: number, buffer: Buffer, length: number): void;
  /** The connection is closed; `error` is null when the server closed it normally. */
  lost(stamp_ns: number, error: Error | null): void;
}

export interface ConnectionAddress {
  readonly host: string;
  readonly port: number;
  /** Path of a unix socket to connect to instead. */
  readonly unixSocket: string | null;
  readonly connectTimeoutSeconds: number;
}

const CR = 13;
const LF = 10;
const LINE_END_BYTES = 2;

/**
 * One for all connections: data is processed before anything else can be read. A line end follows it, so that no search
 * for one continues into data that was read earlier.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536 + LINE_END_BYTES);
const READ_INTO = READ_BUFFER.subarray(0, -LINE_END_BYTES);
const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * One connection on a raw socket. Without a user it is idle and can be reused; any event on an idle connection closes
 * it.
 */
export class RawConnection {
  readonly #socket: Socket;
  readonly #connectTimer: NodeJS.Timeout;
  readonly #closed: Promise<void>;
  #user: ConnectionUser | null = null;
  readonly #started_ns: number;
  #lookedUp_ns: number | null = null;
  /** Time to open it; null until it is open. */
  connect_ns: number | null = null;
  /** The TCP handshake in it; null without one. */
  tcp_connect_ns: number | null = null;
  /** When it may be too old to be reused, on the clock of `performance.now`. */
  bestBefore_ms = Infinity;

  constructor(address: ConnectionAddress) {
    const start_ns = (this.#started_ns = monotonicNow_ns());
    const { host, port, unixSocket, connectTimeoutSeconds } = address;
    const socket = connect({
      ...(unixSocket === null ? { host, port } : { path: unixSocket }),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      onread: {
        buffer: READ_INTO,
        callback: (length) => {
          const stamp_ns = monotonicNow_ns();
          this.#received(stamp_ns, length);
          return true;
        },
      },
    });
    this.#socket = socket;
    this.#connectTimer = setTimeout(() => {
      const message = `no connection within ${connectTimeoutSeconds} s`;
      socket.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
    }, connectTimeoutSeconds * 1000);
    // The event also fires for IP addresses, which need no lookup.
    if (unixSocket === null && isIP(host) === 0) {
      socket.once('lookup', () => (this.#lookedUp_ns = monotonicNow_ns()));
    }
    socket.once('connect', () => {
      const connected_ns = monotonicNow_ns();
      this.connect_ns = Math.round(connected_ns - start_ns);
      if (unixSocket === null) this.tcp_connect_ns = Math.round(connected_ns - (this.#lookedUp_ns ?? start_ns));
      clearTimeout(this.#connectTimer);
      this.#user?.connected();
    });
    socket.on('error', (error) => this.#lost(error));
    socket.once('end', () => this.#lost(null));
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#lost(null);
        resolve();
      });
    });
  }

  get times(): ConnectionTimes {
    const connected_ns = this.connect_ns === null ? null : this.#started_ns + this.connect_ns;
    return {
      started_ns: this.#started_ns,
      lookedUp_ns: this.#lookedUp_ns,
      tcpConnected_ns: connected_ns,
      connected_ns,
    };
  }

  get isGone(): boolean {
    return this.#socket.destroyed;
  }

  /** Whether everything that was written has been passed to the kernel. */
  get isFlushed(): boolean {
    return this.#socket.writableLength === 0;
  }

  use(user: ConnectionUser): void {
    this.#user = user;
    this.#socket.ref();
  }

  /** Its user has finished with it. An idle connection does not keep the process alive. */
  rest(): void {
    this.#user = null;
    this.#socket.unref();
  }

  /** `flushed` is called when all of it has been passed to the kernel. */
  write(bytes: Buffer, flushed?: () => void): void {
    if (flushed === undefined) {
      this.#socket.write(bytes);
      return;
    }
    this.#socket.write(bytes, (error) => {
      if (error == null) flushed();
    });
    // The callback comes a little later even when everything was written immediately.
    if (this.isFlushed) flushed();
  }

  /** Closes it without notifying its user. */
  destroy(): void {
    this.#user = null;
    clearTimeout(this.#connectTimer);
    this.#socket.destroy();
  }

  /** Resolves when it is fully closed. */
  async closed(): Promise<void> {
    await this.#closed;
  }

  #received(stamp_ns: number, length: number): void {
    READ_BUFFER[length] = CR;
    READ_BUFFER[length + 1] = LF;
    // Unsolicited bytes: they would be read as the next response.
    if (this.#user === null) this.destroy();
    else this.#user.received(stamp_ns, READ_BUFFER, length);
  }

  #lost(error: Error | null): void {
    const stamp_ns = monotonicNow_ns();
    const user = this.#user;
    this.destroy();
    user?.lost(stamp_ns, error);
  }
}
