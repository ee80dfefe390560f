// Reads all keys of a namespace and reports inconsistencies. It knows how data is stored, and nothing about the
// operations that were done.

import type { Redis } from 'ioredis'
import * as cache from './cache.ts'
import * as collection from './collection.ts'
import * as counters from './counters.ts'
import * as feed from './feed.ts'
import * as lock from './lock.ts'
import * as once from './once.ts'
import * as queue from './queue.ts'
import * as rateLimit from './rate-limit.ts'
import * as semaphore from './semaphore.ts'
import { type Snapshot, snapshotOf, unitsOf } from './snapshot.ts'

interface Auditor {
  /** The parts that there may be. */
  readonly PARTS: readonly string[]
  faultsOf(unit: Snapshot): string[]
}

const AUDITORS: Readonly<Record<string, Auditor>> = {
  cache,
  collection,
  counters,
  feed,
  lock,
  once,
  queue,
  'rate-limit': rateLimit,
  semaphore,
}

/** The faults in words, each with its unit. */
export async function audit(client: Redis, namespace: string): Promise<string[]> {
  const faults: string[] = []
  for (const [prefix, keys] of await unitsOf(client, namespace)) {
    // Keys may have come since they were looked for.
    const known = keysOf(prefix)
    faults.push(...(await auditUnit(client, prefix, [...new Set([...keys, ...known])])))
  }
  return faults
}

/**
 * As `audit`, for the unit whose keys these are; `prefix` is what all of them begin with, `nowMs` the time of a test
 * clock.
 */
async function auditUnit(
  client: Redis,
  prefix: string,
  keys: readonly string[],
  nowMs?: number,
): Promise<string[]> {
  const auditor = AUDITORS[structureOf(prefix)]
  if (auditor === undefined) return []
  const unit = await snapshotOf(client, prefix, keys, nowMs)
  const unknown = unit.parts.filter((part) => !auditor.PARTS.includes(part.replace(/-[0-9a-f-]{36}$/, '')))
  const faults = [...unknown.map((part) => `${part} is no part of it`), ...auditor.faultsOf(unit)]
  return faults.map((fault) => `${prefix}: ${fault}`)
}

/** As `audit`, for one unit. */
export async function faultsOfUnit(client: Redis, prefix: string, nowMs?: number): Promise<string[]> {
  return auditUnit(client, prefix, keysOf(prefix), nowMs)
}

function keysOf(prefix: string): string[] {
  const parts = AUDITORS[structureOf(prefix)]?.PARTS ?? []
  return parts.map((part) => `${prefix}:${part}`)
}

function structureOf(prefix: string): string {
  return /\{([a-z-]+):/.exec(prefix)?.[1] ?? ''
}
