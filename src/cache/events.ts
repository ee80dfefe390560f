// What a process tells of its own use of a cache, for metrics. Each get begins with `fresh`, `stale`,
// `absent` or `outage`; `undecodable` and an `outage` may follow.

import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { notifying } from '../runtime/errors/notify.ts'

/** `process`: from the level of this process. */
export type ServedFrom = 'process' | 'redis'

export type CacheEvent =
  /** A hit. */
  | { readonly kind: 'fresh' | 'stale'; readonly key: string; readonly from: ServedFrom }
  /** A miss: the value is loaded, here or elsewhere. */
  | { readonly kind: 'absent'; readonly key: string }
  /** Redis is away: the loader answers without it. */
  | { readonly kind: 'outage'; readonly key: string }
  /** A loader of this process ended well; `stored`: others get its value too. */
  | { readonly kind: 'loaded'; readonly key: string; readonly loadMs: number; readonly stored: boolean }
  /** What it found was refused: an invalidation, a set, another load or a greater version came between. */
  | {
      readonly kind: 'refused'
      readonly key: string
      readonly loadMs: number
      readonly why: 'revoked' | 'lost' | 'superseded'
    }
  /** It threw, took longer than `maxLoad`, or lost its lease. */
  | { readonly kind: 'failed'; readonly key: string; readonly loadMs: number; readonly error: unknown }
  /** The codec threw at what is kept: the value is loaded, here or elsewhere. */
  | { readonly kind: 'undecodable'; readonly key: string; readonly error: unknown }
  /** The level made room. */
  | { readonly kind: 'evicted'; readonly key: string }

export interface CacheHooks {
  /** Called at once with what happens in this process: it must be quick; what it throws becomes an uncaught exception. */
  event?: (event: CacheEvent) => void
}

export type Tell = (event: CacheEvent) => void

/** Throws InvalidArgumentError. */
export function toTell(hooks: CacheHooks = {}): Tell | null {
  checkOptions('hooks', hooks, ['event'])
  const { event } = hooks
  if (event === undefined) return null
  if (typeof event !== 'function') throw new InvalidArgumentError('hooks.event', 'must be a function')
  return notifying(event)
}
