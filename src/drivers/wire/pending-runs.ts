import { ConnectionLostError, type Reply } from '../../driver.ts'
import { type Linked, LinkedList } from '../../linked-list.ts'

/** Why what is due on a connection is given up whose replies are not those of its calls. */
export const MISREAD = 'a reply had the wrong shape: its connection was dropped'

/** Rounds are counted while answers are due: what they are for says silence.ts. */
export const ROUND_MS = 500

/** A command that is sent. `Node`: a connection, as the client library has it. */
export interface Sent<Node extends object = object> {
  readonly key: string
  /** False while it is certain that the command still waits inside the client. */
  written: boolean
  /** True where its answer may be large: it may take long to come over. */
  readonly isLarge?: boolean | undefined
  /** Of its arguments, which may take long to go out. */
  readonly bytes?: number | undefined
  /** For so long the server may wait on purpose before it answers. */
  readonly waitsMs?: number | undefined
  /** To where, if that does not follow from the key. */
  readonly node?: Node | undefined
}

/** A command whose answer is still due. */
export interface PendingRun<Node extends object = object> extends Sent<Node>, Linked {
  /** Of the driver that has sent it. */
  readonly among: object
  /** How many rounds there had been when it was sent. */
  readonly round: number
  readonly reject: (error: Error) => void
}

/** Turns what a client library threw into one of the two errors of the port. */
export type Explain = (error: unknown, run: PendingRun) => Error

/** What is due over one client, of all drivers on it: over a connection answers come in the order of all of it. */
class Due<Node extends object> {
  readonly runs = new LinkedList<PendingRun<Node>>()
  readonly onRound = new Set<() => void>()
  rounds = 0
  #timer: NodeJS.Timeout | undefined

  static of<Node extends object>(client: object): Due<Node> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all drivers on a client are of its library
    const known = dues.get(client) as Due<Node> | undefined
    if (known !== undefined) return known
    const due = new Due<Node>()
    dues.set(client, due)
    return due
  }

  add(run: PendingRun<Node>): void {
    this.runs.add(run)
    if (this.#timer === undefined) this.#timer = this.#startRound()
  }

  /** A process that was stalled finds its timers due before it has read the answers that came meanwhile. */
  #startRound(): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#endRound()), ROUND_MS).unref()
  }

  #endRound(): void {
    this.#timer = undefined
    if (this.runs.size === 0) return
    this.#timer = this.#startRound()
    this.rounds += 1
    for (const tell of this.onRound) tell()
  }
}

const dues = new WeakMap<object, object>()

/**
 * Every command of a driver whose answer is still due, so that all of them can be given up at once: a client
 * library may resend a lost command or forget it, and the caller must learn of the loss either way.
 * An answer that comes after a run was given up is ignored.
 */
export class PendingRuns<Node extends object = object> {
  readonly #due: Due<Node>
  readonly #explain: Explain
  readonly #onFailure: (error: Error) => void

  /** `onFailure` is called with each error, once the caller has it. */
  constructor(client: object, explain: Explain, onFailure: (error: Error) => void) {
    this.#due = Due.of(client)
    this.#explain = explain
    this.#onFailure = onFailure
  }

  follow(answer: Promise<unknown>, sent: Sent<Node>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      // Each field by name: a copy by spread costs more than all else that is done here.
      const { key, written, isLarge, bytes, waitsMs, node } = sent
      const run: PendingRun<Node> = {
        previous: undefined,
        next: undefined,
        key,
        written,
        isLarge,
        bytes,
        waitsMs,
        node,
        among: this,
        round: this.#due.rounds,
        reject,
      }
      this.#due.add(run)
      answer.then(
        (reply) => this.#answered(run, resolve, reply),
        (error: unknown) => this.#failed(run, error),
      )
    })
  }

  /** True while no answer is due, of any driver on the client. */
  get idle(): boolean {
    return this.#due.runs.size === 0
  }

  has(run: PendingRun<Node>): boolean {
    return this.#due.runs.has(run)
  }

  /** How many rounds there have been. */
  get rounds(): number {
    return this.#due.rounds
  }

  /** Those of all drivers on the client that are due for so many rounds, the oldest first. */
  dueFor(rounds: number): PendingRun<Node>[] {
    return [...this.#due.runs].filter(({ round }) => this.#due.rounds - round >= rounds)
  }

  /** Calls `tell` in each round, which is every half second while an answer is due. Returns how to stop. */
  onRound(tell: () => void): () => void {
    this.#due.onRound.add(tell)
    return () => this.#due.onRound.delete(tell)
  }

  /** The client has just sent all that waited for the connection. */
  markWritten(): void {
    for (const run of this.#own()) run.written = true
  }

  giveUp(reason: string, isLost: (run: PendingRun<Node>) => boolean): void {
    for (const run of this.#own()) {
      if (!isLost(run)) continue
      this.#due.runs.delete(run)
      run.reject(new ConnectionLostError(reason, true))
    }
  }

  #own(): PendingRun<Node>[] {
    return [...this.#due.runs].filter(({ among }) => among === this)
  }

  #answered(run: PendingRun<Node>, resolve: (reply: Reply) => void, reply: unknown): void {
    this.#due.runs.delete(run)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the drivers ask for replies of these shapes
    resolve(reply as Reply)
  }

  #failed(run: PendingRun<Node>, error: unknown): void {
    if (!this.#due.runs.delete(run)) return
    const explained = this.#explain(error, run)
    run.reject(explained)
    this.#onFailure(explained)
  }
}
