// Looking up jobs, and changing them without a claim.

import { type TUnsafe, Type } from '@fastify/type-provider-typebox'
import type { JobState } from 'perilune'
import { limit, strict } from '../api/arguments.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { foundJobs, job, outcome, outcomes, page } from './answers.ts'
import { priority as anyPriority, spread, text, type QueueRoutes } from './arguments.ts'
import { encodeFound, encodeJob, encodePage } from './encode.ts'
import { noJob, type QueueOf } from './open.ts'
import { exactListOf, writtenQueryOf } from '../../http/requests/query.ts'

type Listed = 'ready' | 'prioritized' | 'grouped' | 'scheduled' | 'blocked' | 'claimed' | 'dead' | 'done'
const state = <State extends string>(states: readonly State[], description: string): TUnsafe<State> =>
  Type.Unsafe<State>({ type: 'string', enum: states, description })
const paging = { after: text('The `next` of the page before.'), limit: limit(50), ...spread }

const Listing = Type.Object(
  {
    state: state<Listed>(
      ['ready', 'prioritized', 'grouped', 'scheduled', 'blocked', 'claimed', 'dead', 'done'],
      'Ready jobs with a priority, and those of groups, have lists of their own.',
    ),
    kind: text('For dead jobs: only those with this kind of failure, the oldest first.'),
    ...paging,
  },
  strict,
)
const Searching = Type.Object(
  {
    name: text('Only jobs of this name.'),
    tag: text('Only jobs with this tag.'),
    state: Type.Optional(
      state<JobState>(
        ['ready', 'scheduled', 'blocked', 'claimed', 'stopping', 'dead', 'done'],
        'Only jobs in this state.',
      ),
    ),
    ...paging,
  },
  strict,
)
const Finding = Type.Object(
  {
    ids: Type.String({ description: 'Up to 1,000 ids, separated by commas; a comma in an id is encoded.' }),
    ...spread,
  },
  strict,
)

const several = Type.Array(Type.String(), { minItems: 1, maxItems: 1000, description: 'Ids of jobs.' })
const Ids = Type.Object({ ids: several }, strict)
const Priority = Type.Object({ priority: anyPriority }, strict)
const Priorities = Type.Object({ ids: several, priority: anyPriority }, strict)

export function queueJobs(routes: QueueRoutes, open: QueueOf): void {
  readPages(routes, open)
  getMany(routes, open)
  singleJobs(routes, open)
  manyJobs(routes, open)
}

function readPages(routes: QueueRoutes, open: QueueOf): void {
  routes.get('/queues/:name/jobs', 'List', { query: Listing, answers: page }, async (request, reply) => {
    const { state: wanted, partitions: _, ...options } = request.query
    const found = await open(request).jobs.list(wanted, options)
    return reply.type('application/json').send(encodePage(found))
  })

  routes.get(
    '/queues/:name/search',
    'Search',
    { query: Searching, description: 'In no order; a page may be empty before the end.', answers: page },
    async (request, reply) => {
      const { partitions: _, ...options } = request.query
      const found = await open(request).jobs.search(options)
      return reply.type('application/json').send(encodePage(found))
    },
  )
}

function getMany(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    '/queues/:name/find',
    'Look many up',
    {
      query: Finding,
      description:
        'The known jobs, in the order of the ids, up to 4 MiB together; `left` has the ids for another request.',
      answers: foundJobs,
    },
    async (request, reply) => {
      // As they were written: an encoded comma is a part of an id.
      const ids = exactListOf(writtenQueryOf(request), 'ids')
      const found = await open(request).jobs.getPage(ids)
      return reply.type('application/json').send(encodeFound(found))
    },
  )
}

function singleJobs(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name/jobs/:id'

  routes.get(url, 'Look one up', { answers: job, or: [404] }, async (request, reply) => {
    const { id } = request.params
    const only = await open(request).jobs.get(id)
    if (only === null) throw noJob(id)
    return reply.type('application/json').send(encodeJob(only))
  })

  routes.delete(url, 'Cancel', { answers: outcome('cancelled', 'stopping'), or: [404] }, async (request) => {
    const { id } = request.params
    return known(id, await open(request).jobs.cancel([id]))
  })

  routes.post(
    `${url}/requeue`,
    'Requeue',
    {
      answers: outcome('requeued', 'ready', 'claimed', 'duplicate'),
      or: [404],
      large: false,
    },
    async (request) => {
      const { id } = request.params
      return known(id, await open(request).jobs.requeue([id]))
    },
  )

  routes.patch(
    url,
    'Reprioritize',
    { body: Priority, answers: outcome('changed'), or: [404, 409] },
    async (request) => {
      const { id } = request.params
      const answer = known(id, await open(request).jobs.reprioritize([id], request.body.priority))
      if (answer.outcome === 'claimed') throw new RefusedRequest('refused', 'The job is claimed.', 'claimed')
      return answer
    },
  )
}

function known(id: string, [word = 'absent']: readonly string[]): { id: string; outcome: string } {
  if (word === 'absent') throw noJob(id)
  return { id, outcome: word }
}

function manyJobs(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name'

  routes.post(
    `${url}/cancel`,
    'Cancel many',
    { body: Ids, answers: outcomes('cancelled', 'stopping'), large: true },
    async (request) => {
      const { ids } = request.body
      return outcomesOf(ids, await open(request).jobs.cancel(ids))
    },
  )

  routes.post(
    `${url}/requeue`,
    'Requeue many',
    {
      body: Ids,
      answers: outcomes('requeued', 'ready', 'claimed', 'duplicate'),
      large: true,
    },
    async (request) => {
      const { ids } = request.body
      return outcomesOf(ids, await open(request).jobs.requeue(ids))
    },
  )

  routes.post(
    `${url}/reprioritize`,
    'Reprioritize many',
    { body: Priorities, answers: outcomes('changed', 'claimed'), large: true },
    async (request) => {
      const { ids, priority } = request.body
      return outcomesOf(ids, await open(request).jobs.reprioritize(ids, priority))
    },
  )
}

function outcomesOf(ids: readonly string[], words: readonly string[]): { jobs: object[] } {
  return { jobs: ids.map((id, at) => ({ id, outcome: words[at] })) }
}
