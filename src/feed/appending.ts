// Appends of one tick become one script call. Those of one `appendMany` stay together, so no other
// message falls between them; more than one call can carry is sent as several.

import { type AppendAlikeArguments, type AppendAnswer, append, appendAlike } from '../generated/feed.ts'
import { checkOptions, checkText } from '../runtime/arguments.ts'
import type { Batcher, BatchTerms, Send } from '../runtime/batcher.ts'
import type { CallId } from '../runtime/call-ids.ts'
import { type Duration, toMs } from '../runtime/duration.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import type { RunInSlot } from '../runtime/unit.ts'
import { microsText, type Source } from './message.ts'

export interface AppendOptions {
  /** How long the message lives; default: the feed's `expireAfter`, else until it is removed. */
  expireAfter?: Duration
  /** How long the message stays invisible. It gets its place in the order when it becomes visible. */
  delay?: Duration
  /** The same key within `rememberFor` appends nothing and gives the id of the first message. */
  idempotencyKey?: string
}

export interface NewMessage<Body> extends AppendOptions {
  body: Body
}

export interface Appended {
  readonly id: string
  /** The position just behind the message; null for one that is delayed or a duplicate. */
  readonly marker: string | null
  /** True when its idempotency key was known: nothing was appended, `id` is that of the first. */
  readonly duplicate: boolean
  /** True when this call began the feed. */
  readonly began: boolean
}

/** What is the same for all messages that a handle appends. */
export interface AppendTerms {
  readonly keepCount: number
  readonly keepMs: number
  readonly keepBytes: number
  readonly rememberMs: number
}

/** A message as the script takes it. */
export interface Outgoing {
  readonly body: string | Uint8Array
  /** Of the body. */
  readonly bytes: number
  readonly expireMs: number
  readonly delayMs: number
  readonly key: string
  readonly origin: string
}

/** What holds for messages that say nothing themselves. */
export interface Defaults {
  readonly expireMs: number
  readonly origin: string
}

const MAX_BODY_BYTES = 4 * 1024 * 1024
const BATCHES: BatchTerms = {
  name: append.script.name,
  items: 1000,
  bytes: MAX_BODY_BYTES,
  underWay: 2,
  waiting: 100_000,
}
const MAX_KEY_BYTES = 512
const SLOW_BATCHES = 16

export function toOutgoing<Body>(
  { codec }: Source<Body>,
  body: Body,
  { expireAfter, delay, idempotencyKey }: AppendOptions,
  { expireMs, origin }: Defaults,
): Outgoing {
  const encoded = codec.encode(body)
  return {
    body: encoded,
    bytes: checkBody(encoded),
    expireMs: expireAfter === undefined ? expireMs : toMs('expireAfter', expireAfter),
    delayMs: delay === undefined ? 0 : toMs('delay', delay, { min: '0ms', max: '365d' }),
    key: idempotencyKey === undefined ? '' : checkText('idempotencyKey', idempotencyKey, MAX_KEY_BYTES),
    origin,
  }
}

export function checkNewMessage(message: unknown): void {
  checkOptions('message', message, ['body', 'expireAfter', 'delay', 'idempotencyKey'])
  if (!('body' in (message as object))) throw new InvalidArgumentError('message.body', 'is missing')
}

/** Appends for one handle of a feed; handles of one feed with the same terms share their batches. */
export class Appender<Body> {
  readonly #source: Source<Body>
  readonly #terms: AppendTerms
  readonly #batch: string
  readonly #keepsAll: boolean
  readonly #send: Send<Outgoing, Appended>
  /** Batches for which the quick way is not tried: it would be declined, and cost a call more. */
  #slowly = 1

  constructor(source: Source<Body>, terms: AppendTerms) {
    this.#source = source
    this.#terms = terms
    this.#batch = `${source.unit.channel} ${source.codec.name} ${Object.values(terms).join(' ')}`
    this.#keepsAll = terms.keepCount + terms.keepMs + terms.keepBytes === 0
    this.#send = (messages, by) => this.#sendBatch(messages, by)
  }

  append(message: Outgoing): Promise<Appended> {
    return this.#batcher().addOne(message, message.bytes)
  }

  /** Appends messages in as few script calls as their number and size allow. */
  async appendMany(messages: readonly Outgoing[]): Promise<Appended[]> {
    if (messages.length === 1) return [await this.append(messages[0] as Outgoing)]
    const results: Appended[] = []
    for (const group of inGroups(messages)) {
      const bytes = group.reduce((sum, message) => sum + message.bytes, 0)
      results.push(...(await this.#batcher().add(group, bytes)))
    }
    return results
  }

  #batcher(): Batcher<Outgoing, Appended> {
    return this.#source.unit.runtime.batcher(this.#batch, BATCHES, this.#send)
  }

  #sendBatch(messages: Outgoing[], by: number): Promise<Appended[]> {
    if (this.#slowly > 0 || !this.#keepsAll || !areAlike(messages) || mayDecline(messages)) {
      this.#slowly -= 1
      return this.#source.unit.inSlot((run) => this.#appendAny(run, messages), by)
    }
    return this.#source.unit.inSlot((run) => this.#appendAlike(run, messages), by)
  }

  /** The quick way. A feed that declines it has something else to do first; soon it may not. */
  async #appendAlike(run: RunInSlot, messages: Outgoing[]): Promise<Appended[]> {
    const [{ expireMs, origin }] = messages as [Outgoing]
    const answer = await run(appendAlike, (id) => ({
      ...this.#common(id),
      expireMs,
      origin,
      bodies: messages.map(({ body }) => body),
    }))
    if (answer.status === 'appended') {
      return toAppended({ ...answer, created: false, duplicates: [] }, messages)
    }
    this.#slowly = SLOW_BATCHES
    return this.#appendAny(run, messages)
  }

  async #appendAny(run: RunInSlot, messages: Outgoing[]): Promise<Appended[]> {
    const answer = await run(append, (id) => ({ ...this.#terms, ...this.#common(id), messages }))
    return toAppended(answer, messages)
  }

  #common({ caller, call }: CallId): Common {
    const { unit, codec } = this.#source
    return { codec: codec.name, caller, call, channel: unit.channel, sharded: unit.sharded }
  }
}

type Common = Pick<AppendAlikeArguments, 'codec' | 'caller' | 'call' | 'channel' | 'sharded'>

/** One life and one origin, visible at once, no keys. */
function areAlike([first, ...others]: readonly Outgoing[]): boolean {
  if (first === undefined || first.delayMs > 0 || first.key !== '') return false
  const { expireMs, origin } = first
  return others.every(
    (message) =>
      message.expireMs === expireMs &&
      message.origin === origin &&
      message.delayMs === 0 &&
      message.key === '',
  )
}

/** Of a feed whose messages expire one by one, something is due at nearly every append. */
function mayDecline([first, ...others]: readonly Outgoing[]): boolean {
  return others.length === 0 && first !== undefined && first.expireMs > 0
}

function toAppended(answer: Omit<AppendAnswer, 'status'>, messages: readonly Outgoing[]): Appended[] {
  const { epoch, first, created: began } = answer
  const beginning = `${microsText(epoch)}-`
  const appended = messages.map(({ delayMs }, at) => {
    const id = microsText(first + at)
    return { id, marker: delayMs > 0 ? null : beginning + id, duplicate: false, began }
  })
  for (const { at, id } of answer.duplicates) {
    appended[at] = { id: microsText(id), marker: null, duplicate: true, began }
  }
  return appended
}

function inGroups(messages: readonly Outgoing[]): Outgoing[][] {
  const groups: Outgoing[][] = []
  let [group, bytes]: [Outgoing[], number] = [[], 0]
  for (const message of messages) {
    bytes += message.bytes
    if (group.length > 0 && (group.length === BATCHES.items || bytes > BATCHES.bytes)) {
      groups.push(group)
      ;[group, bytes] = [[], message.bytes]
    }
    group.push(message)
  }
  if (group.length > 0) groups.push(group)
  return groups
}

/** The size of an encoded body. */
function checkBody(body: unknown): number {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new InvalidArgumentError('body', 'must become text or bytes: the codec gave something else')
  }
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
  if (bytes > MAX_BODY_BYTES) {
    throw new InvalidArgumentError('body', `must be at most ${MAX_BODY_BYTES} bytes when encoded`)
  }
  return bytes
}
