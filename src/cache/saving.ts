// How a load ends: its value is stored, or its lease is given up.

import { fail, type StoreAnswer, store } from '../generated/cache.ts'
import type { Grant } from '../runtime/keeper/grant.ts'
import { learnTold } from '../runtime/waiting/told.ts'
import type { LoadContext } from './loader.ts'
import { type Span, spanOf } from './options.ts'
import { type Encoded, encodeValue, heldBy, type Source, unitOf, valueKeyOf } from './source.ts'

export interface Election {
  readonly key: string
  readonly id: string
  readonly grant: Grant
  /** Generations from before the load. */
  readonly tags: Buffer
  readonly span: Span
  /** There is a value, which may be served meanwhile. */
  readonly replaces: boolean
}

/** `unkept`: it was not to be stored, and nothing came between; `outage`: it could not be. */
export type Saved = StoreAnswer['status'] | 'unkept' | 'outage'
export type Save = () => Promise<Saved>

/** What stores the value that was found, with what the loader said of it. */
export function toSave<Value>(
  source: Source<Value>,
  { key, id, grant, tags, span, replaces }: Election,
  context: LoadContext,
  value: Value,
  loadMs: number,
): Save {
  const { codec, terms } = source
  const encoded = encodeValue(source, value)
  const { version, ...kept } = context.kept(spanOf(value, terms, span))
  const isKept = kept.freshMs > 0
  // What is there and may be served has to go; it is replaced by what ends at once.
  if (!isKept && !replaces) return async () => ((await giveUp(source, key, id, '')) ? 'unkept' : 'revoked')
  const unit = unitOf(source, key)
  return async () => {
    const args = {
      codec: codec.name,
      token: grant.token,
      version,
      ...encoded,
      flags: encoded.flags + heldBy(source.shared.level),
      loadMs,
      freshMs: spread(kept.freshMs, terms.jitter),
      staleMs: isKept ? kept.staleMs : 0,
      ...(await learnTold(unit)),
      tags,
    }
    expectToRead(source, key, encoded)
    const { status } = await unit.run(store, args, { atClose: 'gives back' })
    return status
  }
}

/** Whoever reads the key from now on may get so much. */
export function expectToRead<Value>(
  source: Source<Value>,
  key: string,
  { payload }: Pick<Encoded, 'payload'>,
): void {
  source.shared.reads.stored(valueKeyOf(source, key), Buffer.byteLength(payload))
}

/** Up to this part of it less, by chance; at least a millisecond. */
export function spread(ms: number, jitter: number): number {
  return Math.max(1, Math.round(ms * (1 - Math.random() * jitter)))
}

/** Gives the lease up; with a reason, it is told to those who wait. False when the load was revoked, or lost. */
export async function giveUp<Value>(
  source: Source<Value>,
  key: string,
  id: string,
  reason: string,
): Promise<boolean> {
  const unit = unitOf(source, key)
  const told = await learnTold(unit)
  const { status } = await unit.run(
    fail,
    { id, restMs: source.terms.restMs, ...told, reason },
    { atClose: 'gives back' },
  )
  return status === 'failed'
}
