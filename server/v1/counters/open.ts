import type { FastifyRequest } from 'fastify'
import type { OpenCounters, ServedCounters } from '../../counters/open-counters.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

/** The counters of a request. Throws Refusal if the tenant has none of this name. */
export type CountersOf = (request: FastifyRequest) => ServedCounters

/** Counters of another tenant are answered like counters that do not exist. */
export function opener(all: readonly OpenCounters[]): CountersOf {
  const served = all.filter(({ entry }) => entry.project !== null)
  const byName = new Map(served.map(({ entry, counters }) => [entry.name, counters]))
  return (request) => {
    const { name } = request.params as { name: string }
    const found = byName.get(nameOf(request, name))
    if (found === undefined) throw new RefusedRequest('not-found', `There are no counters ${name}.`)
    return found
  }
}
