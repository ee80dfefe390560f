// What is known of jobs, and what can be done to them without a claim.

import { type TUnsafe, Type } from '@fastify/type-provider-typebox'
import type { JobState } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { limit } from '../api/arguments.ts'
import { NamePath, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
import { foundJobs, job, outcome, outcomes, page } from './answers.ts'
import { JobPath, priority as anyPriority, QueueQuery, spread, text } from './arguments.ts'
import { encodeFound, encodeJob, encodePage } from './encode.ts'
import { noJob, type Open } from './open.ts'
import { listOf, writtenQueryOf } from '../../http/requests/query.ts'

const tags = ['queues']
const one = { tags, params: JobPath, querystring: QueueQuery }
const many = { tags, params: NamePath, querystring: QueueQuery }

type Listed = 'ready' | 'prioritized' | 'grouped' | 'scheduled' | 'blocked' | 'claimed' | 'dead' | 'done'
const state = <State extends string>(states: readonly State[], description: string): TUnsafe<State> =>
  Type.Unsafe<State>({ type: 'string', enum: states, description })
const paging = { after: text('`next` of the page before.'), limit: limit(50), ...spread }

const Listing = Type.Object(
  {
    state: state<Listed>(
      ['ready', 'prioritized', 'grouped', 'scheduled', 'blocked', 'claimed', 'dead', 'done'],
      'Ready jobs with a priority, and those of groups, have lists of their own.',
    ),
    kind: text('Of dead jobs: only those that are dead of this kind of failure, the oldest first.'),
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
    ids: Type.String({ description: 'Up to 1,000 ids, with commas between; a comma in an id is encoded.' }),
    ...spread,
  },
  strict,
)

const several = Type.Array(Type.String(), { minItems: 1, maxItems: 1000, description: 'Ids of jobs.' })
const Ids = Type.Object({ ids: several }, strict)
const Priority = Type.Object({ priority: anyPriority }, strict)
const Priorities = Type.Object({ ids: several, priority: anyPriority }, strict)

export function queueJobs(app: App, parts: Parts, open: Open): void {
  readPages(app, open)
  findMany(app, open)
  singleJobs(app, parts, open)
  manyJobs(app, parts, open)
}

function readPages(app: App, open: Open): void {
  const listed = { tags, summary: 'List', params: NamePath, querystring: Listing, response: answers(page) }
  app.get('/queues/:name/jobs', { schema: listed }, async (request, reply) => {
    const { state: wanted, partitions: _, ...options } = request.query
    const found = await open(request).jobs.list(wanted, options)
    return reply.type('application/json').send(encodePage(found))
  })

  const searched = {
    tags,
    summary: 'Search',
    description: 'In no order; a page may be empty before the end.',
    params: NamePath,
    querystring: Searching,
    response: answers(page),
  }
  app.get('/queues/:name/search', { schema: searched }, async (request, reply) => {
    const { partitions: _, ...options } = request.query
    const found = await open(request).jobs.search(options)
    return reply.type('application/json').send(encodePage(found))
  })
}

function findMany(app: App, open: Open): void {
  const schema = {
    tags,
    summary: 'Look many up',
    description:
      'Those that are known, in the order of the ids, as far as they have 4 MiB together: `left` are the ids for another request.',
    params: NamePath,
    querystring: Finding,
    response: answers(foundJobs),
  }
  app.get('/queues/:name/find', { schema }, async (request, reply) => {
    // As they were written: an encoded comma is a part of an id.
    const ids = listOf(writtenQueryOf(request), 'ids') ?? []
    const found = await open(request).jobs.findPage(ids)
    return reply.type('application/json').send(encodeFound(found))
  })
}

function singleJobs(app: App, { limits }: Parts, open: Open): void {
  const url = '/queues/:name/jobs/:id'

  const found = { ...one, summary: 'Look one up', response: answers(job, 404) }
  app.get(url, { schema: found }, async (request, reply) => {
    const { id } = request.params
    const only = await open(request).jobs.find(id)
    if (only === null) throw noJob(id)
    return reply.type('application/json').send(encodeJob(only))
  })

  const stopped = { ...one, summary: 'Cancel', response: answers(outcome('cancelled', 'stopping'), 404) }
  app.delete(url, { schema: stopped }, async (request) => {
    const { id } = request.params
    return known(id, await open(request).jobs.cancel([id]))
  })

  const again = {
    ...one,
    summary: 'Requeue',
    response: answers(outcome('requeued', 'ready', 'claimed', 'duplicate'), 404),
  }
  app.post(`${url}/requeue`, { schema: again, bodyLimit: limits.maxOtherBytes }, async (request) => {
    const { id } = request.params
    return known(id, await open(request).jobs.requeue([id]))
  })

  const changed = {
    ...one,
    summary: 'Reprioritize',
    body: Priority,
    response: answers(outcome('changed'), 404, 409, ...BODY),
  }
  app.patch(url, { schema: changed, bodyLimit: limits.maxOtherBytes }, async (request) => {
    const { id } = request.params
    const answer = known(id, await open(request).jobs.reprioritize([id], request.body.priority))
    if (answer.outcome === 'claimed') throw new Refusal('refused', 'The job is at work.', 'claimed')
    return answer
  })
}

function known(id: string, [word = 'absent']: readonly string[]): { id: string; outcome: string } {
  if (word === 'absent') throw noJob(id)
  return { id, outcome: word }
}

function manyJobs(app: App, { limits }: Parts, open: Open): void {
  const url = '/queues/:name'
  const bodyLimit = limits.maxAppendBytes

  const stopped = {
    ...many,
    summary: 'Cancel many',
    body: Ids,
    response: answers(outcomes('cancelled', 'stopping'), ...BODY),
  }
  app.post(`${url}/cancel`, { schema: stopped, bodyLimit }, async (request) => {
    const { ids } = request.body
    return told(ids, await open(request).jobs.cancel(ids))
  })

  const again = {
    ...many,
    summary: 'Requeue many',
    body: Ids,
    response: answers(outcomes('requeued', 'ready', 'claimed', 'duplicate'), ...BODY),
  }
  app.post(`${url}/requeue`, { schema: again, bodyLimit }, async (request) => {
    const { ids } = request.body
    return told(ids, await open(request).jobs.requeue(ids))
  })

  const changed = {
    ...many,
    summary: 'Reprioritize many',
    body: Priorities,
    response: answers(outcomes('changed', 'claimed'), ...BODY),
  }
  app.post(`${url}/reprioritize`, { schema: changed, bodyLimit }, async (request) => {
    const { ids, priority } = request.body
    return told(ids, await open(request).jobs.reprioritize(ids, priority))
  })
}

function told(ids: readonly string[], words: readonly string[]): { jobs: object[] } {
  return { jobs: ids.map((id, at) => ({ id, outcome: words[at] })) }
}
