import { inspect } from '../generated/cache.ts'
import { Envelope, PAYLOAD } from './envelope.ts'
import { ageOf, judge } from './judging.ts'
import { look, readTags } from './look.ts'
import { decodeValue, type Source, UNDECODABLE, unitOf, valueKeyOf } from './source.ts'
import { tagsIn } from './tags.ts'

/** A value that is there. */
export interface FoundValue<Value> {
  readonly value: Value
  /** False when it is stale. */
  readonly fresh: boolean
  /** How old it is by the server's clock, as far as this process knows it. */
  readonly ageMs: number
  /** In milliseconds of the server's clock, as the others. */
  readonly createdAtMs: number
  readonly freshUntilMs: number
  readonly staleUntilMs: number
}

/** A picture of a key; for people, for it may be old when it arrives. */
export interface CacheInspection {
  readonly state: 'fresh' | 'stale' | 'absent'
  /** When it was stored, in milliseconds of the server's clock; null when it is absent, as the others. */
  readonly createdAtMs: number | null
  /** How long its load took; 0 for one that was set. */
  readonly loadMs: number | null
  readonly freshUntilMs: number | null
  readonly staleUntilMs: number | null
  /** The greatest that is known; null without one. */
  readonly version: number | null
  /** True when the value is that there is none. */
  readonly negative: boolean
  /** Of head and payload. */
  readonly bytes: number
  readonly codec: string | null
  readonly tags: readonly string[]
  /** The load under way; null without one. */
  readonly load: { readonly token: number; readonly expiresAtMs: number } | null
}

/** Null when there is no value that may be served, or none that can be read. */
export async function findValue<Value>(
  source: Source<Value>,
  key: string,
): Promise<FoundValue<Value> | null> {
  // The server's time, where it is not known or was told long ago.
  if (source.runtime.clock.agedAt(performance.now())) await look(source, key, [])
  const bytes = await source.shared.values.get(valueKeyOf(source, key), source.terms.storeMs)
  if (bytes === null) return null
  const envelope = Envelope.read(bytes)
  if (envelope === null) return null
  const nowMs = source.runtime.clock.latestMs()
  const worth = judge(envelope, source.terms, nowMs)
  if (worth === 'absent') return null
  const tags = await readTags(source, tagsIn(envelope.tags))
  if (!envelope.hasTags(tags)) return null
  const { createdAtMs, freshUntilMs, staleUntilMs } = envelope
  const value = decodeValue(source, key, envelope)
  if (value === UNDECODABLE) return null
  const ageMs = ageOf(envelope, nowMs)
  return { value, fresh: worth !== 'stale', ageMs, createdAtMs, freshUntilMs, staleUntilMs }
}

export async function inspectKey<Value>(source: Source<Value>, key: string): Promise<CacheInspection> {
  const answer = await unitOf(source, key).run(inspect, {})
  const { state, flags, bytes, loading } = answer
  const isThere = state !== 'absent'
  const there = <Field>(field: Field): Field | null => (isThere ? field : null)
  return {
    state: state as CacheInspection['state'],
    createdAtMs: there(answer.createdAtMs),
    loadMs: there(answer.loadMs),
    freshUntilMs: there(answer.freshUntilMs),
    staleUntilMs: there(answer.staleUntilMs),
    version: answer.version === 0 ? null : answer.version,
    negative: flags !== PAYLOAD,
    bytes,
    codec: there(answer.codec),
    tags: tagsIn(Buffer.from(answer.tags)),
    load: loading === 0 ? null : { token: loading, expiresAtMs: answer.leaseEndsMs },
  }
}
