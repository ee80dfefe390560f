import type { CatalogEntry } from 'perilune'
import { LOOK_THROUGH } from '../../http/answers/page-bounds.ts'
import type { Tenant } from '../requests/headers.ts'
import type { Metadata } from '../requests/metadata.ts'
import type { Registry } from './registry.ts'

export interface QueueSearch {
  readonly limit: number
  /** Queues after this name. */
  readonly marker: string | undefined
  /** Queues whose name contains this. */
  readonly part: string
}

export interface FoundQueues {
  readonly entries: readonly CatalogEntry<Metadata>[]
  /** Of all queues of the project, whatever their names. */
  readonly total: number
  /** The name after which to continue; null if no more are known and none were found. */
  readonly next: string | null
}

const CHUNK = 1000

/** Queues of a project by name. A search for a part of the name reads the list in chunks, within a bound. */
export async function findQueues(
  registry: Registry,
  tenant: Tenant,
  search: QueueSearch,
): Promise<FoundQueues> {
  const { limit, part } = search
  const entries: CatalogEntry<Metadata>[] = []
  let [after, looked] = [search.marker, 0]
  for (;;) {
    const chunk = part === '' ? limit : CHUNK
    const page = await registry.list(tenant, { limit: chunk, ...(after === undefined ? {} : { after }) })
    entries.push(...page.entries.filter(({ name }) => name.includes(part)))
    after = page.entries.at(-1)?.name
    looked += page.entries.length
    const found = entries.slice(0, limit)
    const last = found.at(-1)?.name ?? null
    if (!page.more || entries.length >= limit) return { entries: found, total: page.total, next: last }
    if (looked >= LOOK_THROUGH) return { entries: found, total: page.total, next: after ?? last }
  }
}
