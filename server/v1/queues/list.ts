// The queues of a tenant.

import { Type } from '@fastify/type-provider-typebox'
import type { CatalogEntry } from 'perilune'
import { strict } from '../api/arguments.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { allQueues } from './answers.ts'
import { text, type QueueRoutes } from './arguments.ts'
import type { KnownQueue, KnownQueues } from './known-queues.ts'
import { openQueue } from './open.ts'
import { briefly, pictureOf } from './pictures.ts'

const Paging = Type.Object(
  {
    after: text('The `next` of the page before.'),
    // Each queue is inspected, and each of its partitions.
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'The maximum number; default 20.' }),
    ),
  },
  strict,
)

export function listQueues(routes: QueueRoutes, known: KnownQueues): void {
  routes.get(
    '/queues',
    'List queues',
    {
      query: Paging,
      description: 'Queues that were begun over HTTP, by their names; a page may be shorter before the end.',
      answers: allQueues,
    },
    async (request) => {
      const listed = await known.list(request, request.query)
      const entries = affordable(listed.entries)
      const more = listed.more || entries.length < listed.entries.length
      const looked = entries.map(async ({ name, document: { partitions } }) => {
        const queue = openQueue(routes.perilune, nameOf(request, name), partitions)
        const picture = await pictureOf(queue)
        return picture === null ? [] : [{ name, partitions, ...briefly(picture) }]
      })
      const queues = (await Promise.all(looked)).flat()
      return { queues, next: more ? entries.at(-1)?.name : null }
    },
  )
}

const MAX_LOOKS = 256

/** The first of them, at least one, within a total number of partitions. */
function affordable(entries: readonly CatalogEntry<KnownQueue>[]): readonly CatalogEntry<KnownQueue>[] {
  let looks = 0
  const beyond = entries.findIndex(({ document: { partitions } }) => (looks += partitions ?? 1) > MAX_LOOKS)
  return beyond === -1 ? entries : entries.slice(0, Math.max(1, beyond))
}
