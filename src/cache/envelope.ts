// A stored value: a head, then the payload (lua/shared/cache/value). Its freshness is judged by the latest server
// time that this process knows. A hit needs few fields, so each is decoded on access.
//
//   created ──fresh──────────due──fresh until──stale──stale until──absent
//                             └── a load begins ahead of the end, while the value is still served

import { VALUE_FLAGS } from '../generated/bits.ts'
import { DriverError, InvalidArgumentError } from '../runtime/errors/errors.ts'

const LAYOUT = 1
const CODEC_AT = 41

/** The flag of a value with a payload; the other flags are in VALUE_FLAGS. */
export const PAYLOAD = 0

/** `due`: fresh, but its refresh is due. */
export type Worth = 'fresh' | 'due' | 'stale' | 'absent'

/** When a fresh value is refreshed: see `CacheOptions`. */
export interface Earliness {
  readonly early: 'ahead' | 'xfetch' | false
  readonly beta: number
}

/** The refresh begins this many load times before the value expires. */
const AHEAD = 1.5
/** But not before this part of the fresh time has passed. */
const LONGEST_AHEAD = 0.5
/** The greatest assumed clock difference between nodes of a cluster. */
const SKEW_MS = 5000

export class Envelope {
  readonly #bytes: Buffer
  #decoded: { readonly codec: string; readonly value: unknown } | null = null

  /** Throws DriverError when this version does not know the layout. */
  constructor(bytes: Buffer) {
    if (bytes[0] !== LAYOUT) {
      throw new DriverError(
        'unknown-layout',
        `the value has layout ${bytes[0]}, which this version does not know; upgrade it`,
      )
    }
    this.#bytes = bytes
  }

  /**
   * Null for bytes with a truncated or impossible head, which no writer of values stored. Throws like the
   * constructor.
   */
  static read(bytes: Buffer): Envelope | null {
    if (bytes.length === 0) return null
    const envelope = new Envelope(bytes)
    return envelope.#isWhole ? envelope : null
  }

  get flags(): number {
    return this.#bytes.readUInt8(1) % VALUE_FLAGS.held
  }

  /** True when an L1 may hold a copy, so that its end is published. */
  get held(): boolean {
    return this.#bytes.readUInt8(1) >= VALUE_FLAGS.held
  }

  /** The size of head and payload in bytes. */
  get size(): number {
    return this.#bytes.length
  }

  /** A copy in its own memory: the original is a slice of a larger buffer. */
  copy(): Envelope {
    const bytes = Buffer.allocUnsafeSlow(this.#bytes.length)
    this.#bytes.copy(bytes)
    return new Envelope(bytes)
  }

  get createdAtMs(): number {
    return this.#bytes.readUIntBE(4, 6)
  }

  get loadMs(): number {
    return this.#bytes.readUInt32BE(10)
  }

  get freshUntilMs(): number {
    return this.#bytes.readUIntBE(14, 6)
  }

  get staleUntilMs(): number {
    return this.#bytes.readUIntBE(20, 6)
  }

  get token(): number {
    return this.#number(26)
  }

  get version(): number {
    return this.#number(33)
  }

  get codec(): string {
    return this.#bytes.toString('utf8', CODEC_AT, this.#tagsAt)
  }

  /** Names and generations, as `tagBlock` writes them. */
  get tags(): Buffer {
    return this.#bytes.subarray(this.#tagsAt, this.#payloadAt)
  }

  get payload(): Buffer {
    return this.#bytes.subarray(this.#payloadAt)
  }

  /** True when it was stored under these generations of the same tags. */
  hasTags(tags: Buffer): boolean {
    const [from, to] = [this.#tagsAt, this.#payloadAt]
    return to - from === tags.length && (tags.length === 0 || tags.compare(this.#bytes, from, to) === 0)
  }

  /** The decoded value, decoded once and shared by all callers. */
  decodedOnce<Value>(codec: string, decode: () => Value): Value {
    if (this.#decoded?.codec !== codec) this.#decoded = { codec, value: decode() }
    return this.#decoded.value as Value
  }

  /** Throws InvalidArgumentError when it was made with another codec. */
  checkCodec(name: string): void {
    if (this.codec === name) return
    throw new InvalidArgumentError('codec', `must be the one the data was written with: ${this.codec}`)
  }

  get #isWhole(): boolean {
    const { length } = this.#bytes
    return length >= CODEC_AT && this.#tagsAt <= this.#payloadAt && this.#payloadAt <= length
  }

  get #tagsAt(): number {
    return CODEC_AT + this.#bytes.readUInt8(CODEC_AT - 1)
  }

  get #payloadAt(): number {
    return this.#bytes.readUInt16BE(2)
  }

  /** Seven bytes. */
  #number(at: number): number {
    return this.#bytes.readUInt8(at) * 2 ** 48 + this.#bytes.readUIntBE(at + 1, 6)
  }
}

export function judge(envelope: Envelope, terms: Earliness, nowMs: number): Worth {
  const { freshUntilMs } = envelope
  if (nowMs >= freshUntilMs) return nowMs < envelope.staleUntilMs ? 'stale' : 'absent'
  // The server's clock has stepped back since, so the age of the value is unknown.
  if (envelope.createdAtMs > nowMs + SKEW_MS) return 'stale'
  return terms.early !== false && freshUntilMs - nowMs <= leadMs(envelope, terms) ? 'due' : 'fresh'
}

/** Whole milliseconds; none where the server's clock has stepped back since. */
export function ageOf({ createdAtMs }: Envelope, nowMs: number): number {
  return Math.max(0, Math.floor(nowMs - createdAtMs))
}

/** How long before its expiry a value is due. */
function leadMs(envelope: Envelope, { early, beta }: Earliness): number {
  const { loadMs, freshUntilMs, createdAtMs } = envelope
  const longestMs = (freshUntilMs - createdAtMs) * LONGEST_AHEAD
  // XFetch, after Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB
  // 2015: an exponential variable with the mean beta times the load. 1 - random() is never 0.
  const wishedMs = early === 'xfetch' ? -loadMs * beta * Math.log(1 - Math.random()) : loadMs * AHEAD
  return Math.min(wishedMs, longestMs)
}
