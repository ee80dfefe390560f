import { ConnectionLostError, type Reply } from '../../driver.ts'
import { type Linked, LinkedList } from '../../linked-list.ts'

/** The reason for dropping a connection whose replies do not match its calls. */
export const MISREAD = 'a reply had the wrong shape: its connection was dropped'

/** Rounds are counted while answers are outstanding; see silence.ts. */
export const ROUND_MS = 500

/** Of a command that the client may keep, and send later. */
export interface Fate {
  /** As in ScriptCall. */
  readonly by: number | undefined
  /** It was given up: its caller repeats it, or has an error. */
  isOver: boolean
}

/** A command that is sent. `Node`: a connection of the client library. */
export interface Sent<Node extends object = object> {
  readonly key: string
  /** False while the command certainly still waits inside the client. */
  written: boolean
  /** True when the answer may be large, and its transfer slow. */
  readonly isLarge?: boolean | undefined
  /** The size of the arguments, whose transfer may be slow. */
  readonly bytes?: number | undefined
  /** How long the server may block on purpose before it answers. */
  readonly waitsMs?: number | undefined
  /** The target connection, when it does not follow from the key. */
  readonly node?: Node | undefined
  readonly fate?: Fate | undefined
}

/** A command without an answer yet. */
export interface PendingRun<Node extends object = object> extends Sent<Node>, Linked {
  /** Identifies the driver that sent it. */
  readonly among: object
  /** The number of rounds before it was sent. */
  readonly round: number
  readonly reject: (error: Error) => void
}

/** Converts an error of the client library into one of the two errors of the port. */
export type Explain = (error: unknown, run: PendingRun) => Error

/** The outstanding runs of one client, of all drivers on it: answers on a connection come in the order of all runs. */
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

  /** After a stall, timers fire before the answers that arrived in the meantime have been read. */
  #startRound(): NodeJS.Timeout {
    return setTimeout(() => setImmediate(() => this.#endRound()), ROUND_MS).unref()
  }

  #endRound(): void {
    this.#timer = undefined
    if (this.runs.size === 0) return
    this.#timer = this.#startRound()
    this.rounds += 1
    for (const listener of this.onRound) listener()
  }
}

const dues = new WeakMap<object, object>()

/**
 * Every unanswered command of a driver, so that all of them can be given up at once. A client library may resend a lost
 * command or forget it; the caller must learn of the loss either way. An answer that comes after that is ignored.
 */
export class PendingRuns<Node extends object = object> {
  readonly #due: Due<Node>
  readonly #explain: Explain
  readonly #onFailure: (error: Error) => void

  /** `onFailure` is called with each error, after the caller has received it. */
  constructor(client: object, explain: Explain, onFailure: (error: Error) => void) {
    this.#due = Due.of(client)
    this.#explain = explain
    this.#onFailure = onFailure
  }

  follow(answer: Promise<unknown>, sent: Sent<Node>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      // Copied field by field: a spread costs more than the rest of this function.
      const { key, written, isLarge, bytes, waitsMs, node, fate } = sent
      const run: PendingRun<Node> = {
        previous: undefined,
        next: undefined,
        key,
        written,
        isLarge,
        bytes,
        waitsMs,
        node,
        fate,
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

  /** True while no answer is outstanding for any driver on the client. */
  get idle(): boolean {
    return this.#due.runs.size === 0
  }

  has(run: PendingRun<Node>): boolean {
    return this.#due.runs.has(run)
  }

  /** The number of rounds so far. */
  get rounds(): number {
    return this.#due.rounds
  }

  /** The runs of all drivers on the client that have been outstanding for this many rounds, oldest first. */
  dueFor(rounds: number): PendingRun<Node>[] {
    return [...this.#due.runs].filter(({ round }) => this.#due.rounds - round >= rounds)
  }

  /**
   * Calls `listener` in each round: every half second while an answer is outstanding. Returns what stops it.
   */
  onRound(listener: () => void): () => void {
    this.#due.onRound.add(listener)
    return () => this.#due.onRound.delete(listener)
  }

  /** The client has just sent everything that waited for the connection. */
  markWritten(): void {
    for (const run of this.#own()) run.written = true
  }

  giveUp(reason: string, isLost: (run: PendingRun<Node>) => boolean): void {
    for (const run of this.#own()) {
      if (!isLost(run)) continue
      this.#due.runs.delete(run)
      if (run.fate !== undefined) run.fate.isOver = true
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
