// Letters: messages to this process alone, for example that a lease was granted to it, or that it is its turn to look.
// A message consists of lines of words, `<word> <id> <number> …`. An id begins with the name of the process,
// `<process>.<number>`, and the process listens on `<beginning>:<process>`. One subscription serves all waiters. A
// message of the word `job` is one letter: the lines after the first are its text.

import { randomBytes } from 'node:crypto'
import type { Driver } from '../../driver.ts'
import { ServerClock } from '../time/server-clock.ts'
import { Sleeper } from '../time/sleeper.ts'
import { Abandoned } from './abandoned.ts'
import type { Ear } from './ear.ts'
import { Reopening } from './open-within.ts'
import { SharedSubscription } from './shared-subscription.ts'
import { Standers } from './standers.ts'

export interface Letter {
  readonly word: string
  readonly numbers: readonly number[]
  /** Empty except for a job. */
  readonly text: string
  /** `performance.now()` on arrival. */
  readonly receivedAt: number
}

export class Mailbox {
  readonly #driver: Pick<Driver, 'subscribe'>
  readonly #process = randomBytes(9).toString('base64url')
  readonly #boxes = new Map<string, Box>()
  #last = 0
  /** The server's clock, derived from answers to attempts. */
  readonly clock: ServerClock = new ServerClock()
  /** Attempts that wait in line. */
  readonly standers: Standers = new Standers()
  readonly #reopenings = new Map<string, Reopening>()
  /** Attempts that are over, for which letters may still arrive. */
  readonly abandoned: Abandoned = new Abandoned()

  constructor(driver: Pick<Driver, 'subscribe'>) {
    this.#driver = driver
  }

  /**
   * Of all waiters whose subscriptions are at these nodes of a cluster; '' where a node is unknown, or the only one.
   * Waiters at several nodes say nothing about one of them.
   */
  reopeningAt(...nodes: readonly string[]): Reopening {
    const place = [...new Set(nodes)].toSorted().join(' ')
    const known = this.#reopenings.get(place) ?? new Reopening()
    this.#reopenings.set(place, known)
    return known
  }

  /** An id for a waiter; never used twice. */
  newId(): string {
    this.#last += 1
    return `${this.#process}.${this.#last}`
  }

  /**
   * An id for one attempt that contains its creation time by the server's clock, where known: if something becomes free
   * within a moment, the server then grants its whole lease at once.
   */
  newAttemptId(): string {
    return this.clock.known ? `${this.newId()}@${Math.floor(this.clock.latestMs())}` : this.newId()
  }

  /**
   * Listens for letters to `id` on the channel that begins with `beginning`; resolves when the server has confirmed.
   * `close` the post when done. Rejects as the driver does. `lasts`: letters are read also while the instance closes.
   */
  async expect(beginning: string, id: string, lasts = false): Promise<Post> {
    const box = this.#box(beginning)
    const post = new Post(box, id, lasts)
    box.put(id, post)
    return opened(box, post)
  }

  /**
   * Like `expect`, under one id for all waiters of this process for the same thing: each has its own post, and gets
   * every letter.
   */
  async expectShared(beginning: string, what: string): Promise<SharedPost> {
    const box = this.#box(beginning)
    const shared = box.share(what, () => this.newId())
    return opened(box, new SharedPost(box, shared))
  }

  /** Like `expect`, when the process listens on the channel already; else null. */
  expectNow(beginning: string, id: string): Post | null {
    const box = this.#boxes.get(beginning)
    if (box === undefined || !box.isReady) return null
    const post = new Post(box, id)
    box.put(id, post)
    return post
  }

  /** The instance closes: waiters look again. Posts that last continue. */
  endWaits(): void {
    for (const box of this.#boxes.values()) box.endWaits()
  }

  /** Waiters look again. The subscriptions end with the instance, which may be waiting for one without success. */
  close(): void {
    this.abandoned.close()
    for (const box of this.#boxes.values()) box.close()
  }

  #box(beginning: string): Box {
    const known = this.#boxes.get(beginning)
    if (known !== undefined) return known
    const forget = (): void => {
      if (this.#boxes.get(beginning) === box) this.#boxes.delete(beginning)
    }
    const box: Box = new Box(this.#driver, `${beginning}:${this.#process}`, this.abandoned, forget)
    this.#boxes.set(beginning, box)
    return box
  }
}

async function opened<One extends Post>(box: Box, post: One): Promise<One> {
  try {
    await box.opened
  } catch (error) {
    post.close()
    throw error
  }
  return post
}

/** Letters to one attempt. */
export class Post implements Ear {
  /** Continues while the instance closes. */
  readonly lasts: boolean
  readonly #box: Box
  readonly #id: string
  readonly #letters: Letter[] = []
  #missed = false
  readonly #sleeper = new Sleeper()

  constructor(box: Box, id: string, lasts = false) {
    this.lasts = lasts
    this.#box = box
    this.#id = id
  }

  get isHeard(): boolean {
    return this.#box.isHeard
  }

  get isGone(): boolean {
    return this.#box.isGone
  }

  deliver(letter: Letter): void {
    this.#letters.push(letter)
    this.#sleeper.wake()
  }

  /** Letters may have been missed. */
  interrupt(): void {
    this.#missed = true
    this.#sleeper.wake()
  }

  /** The next letter; null after `ms`; 'missed' when letters may have been missed. Rejects with the signal's reason. */
  async next(ms: number, signal?: AbortSignal): Promise<Letter | 'missed' | null> {
    signal?.throwIfAborted()
    if (this.#letters.length === 0 && !this.#missed) await this.#sleeper.sleep(ms, signal)
    signal?.throwIfAborted()
    const letter = this.#letters.shift()
    if (letter !== undefined || !this.#missed) return letter ?? null
    this.#missed = false
    return 'missed'
  }

  /** Sleeps until the next letter, or until letters may have been missed. Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<unknown> {
    return this.next(ms, signal)
  }

  close(): void {
    this.#box.leave(this.#id)
  }
}

/** One id and its waiters. */
class Shared {
  readonly id: string
  readonly what: string
  readonly lasts = false
  readonly posts: Set<Post> = new Set()

  constructor(id: string, what: string) {
    this.id = id
    this.what = what
  }

  deliver(letter: Letter): void {
    for (const post of this.posts) post.deliver(letter)
  }

  interrupt(): void {
    for (const post of this.posts) post.interrupt()
  }
}

/** Letters to all waiters for the same thing. */
export class SharedPost extends Post {
  /** The id that all of them share. */
  readonly id: string
  readonly #shared: Shared
  readonly #in: Box

  constructor(box: Box, shared: Shared) {
    super(box, shared.id)
    this.id = shared.id
    this.#shared = shared
    this.#in = box
    shared.posts.add(this)
  }

  /** Whether this is the only waiter under this id. */
  get isLast(): boolean {
    return this.#shared.posts.size === 1 && this.#shared.posts.has(this)
  }

  override close(): void {
    const { isLast } = this
    this.#shared.posts.delete(this)
    if (isLast) this.#in.unshare(this.#shared)
  }
}

type Reader = Pick<Post, 'lasts' | 'deliver' | 'interrupt'>

class Box implements Ear {
  readonly #subscription: SharedSubscription
  readonly #readers = new Map<string, Reader>()
  /** Keyed by what they wait for. */
  readonly #shared = new Map<string, Shared>()
  readonly #abandoned: Abandoned

  constructor(driver: Pick<Driver, 'subscribe'>, channel: string, abandoned: Abandoned, forget: () => void) {
    this.#abandoned = abandoned
    // Waiters check their clocks: while not connected, they poll more often.
    const interrupt = (): void => this.#interruptAll()
    const onMessage = (message: string): void => this.#sort(message)
    const events = { onMessage, onLost: interrupt, onGap: interrupt, onOver: forget }
    this.#subscription = new SharedSubscription(driver, channel, events)
  }

  /** True once the server has confirmed. */
  get isReady(): boolean {
    return this.#subscription.isReady
  }

  get isHeard(): boolean {
    return this.#subscription.isHeard
  }

  get isGone(): boolean {
    return this.#subscription.isGone
  }

  /** Resolves when the server has confirmed. All waiters get a failure; the next one retries. */
  get opened(): Promise<unknown> {
    return this.#subscription.opened
  }

  put(id: string, reader: Reader): void {
    this.#readers.set(id, reader)
    this.#subscription.enter()
  }

  share(what: string, newId: () => string): Shared {
    const known = this.#shared.get(what)
    if (known !== undefined) return known
    const shared = new Shared(newId(), what)
    this.#shared.set(what, shared)
    this.put(shared.id, shared)
    return shared
  }

  /** The last waiter has left: an id is never used twice. */
  unshare({ id, what }: Shared): void {
    this.#shared.delete(what)
    this.leave(id)
  }

  leave(id: string): void {
    if (this.#readers.delete(id)) this.#subscription.leave()
  }

  endWaits(): void {
    for (const reader of this.#readers.values()) if (!reader.lasts) reader.interrupt()
  }

  close(): void {
    this.#interruptAll()
    this.#subscription.end()
  }

  #sort(message: string): void {
    const receivedAt = performance.now()
    if (!message.startsWith('job ')) {
      for (const line of message.split('\n')) this.#deliver(line, '', receivedAt)
      return
    }
    const end = message.indexOf('\n')
    this.#deliver(message.slice(0, end), message.slice(end + 1), receivedAt)
  }

  #deliver(line: string, text: string, receivedAt: number): void {
    const [word = '', id = '', ...numbers] = line.split(' ')
    const reader = this.#readers.get(id)
    if (reader === undefined) this.#abandoned.heard(id)
    else reader.deliver({ word, numbers: numbers.map(Number), text, receivedAt })
  }

  #interruptAll(): void {
    for (const reader of this.#readers.values()) reader.interrupt()
  }
}
