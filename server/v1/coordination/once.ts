import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  InvalidArgumentError,
  jsonText,
  type LentAttempt,
  type Once,
  type OnceOptions,
  type Waiting,
} from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { duration, leaseToken, name } from '../api/arguments.ts'
import { begun, cleared, completed, result as found, key as picture } from './answers.ts'
import { lease, NoQuery, strict, WaitQuery } from '../api/strictness.ts'
import { askWaiting, type Leases, type Parts } from '../api/lending.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { Denial, Refusal } from '../../http/answers/problem-documents.ts'
import { keepLeases } from './leases.ts'

const tags = ['once']
const url = '/once/:name/keys/:key'
const keepResult = duration('How long the result is kept; default 24h.')
const KeyPath = Type.Object({
  name,
  key: Type.String({ minLength: 1, description: 'The idempotency key.' }),
})
const AttemptPath = Type.Object({ ...KeyPath.properties, token: leaseToken })
const Terms = Type.Object(
  {
    fingerprint: Type.Optional(
      Type.String({ description: 'Of the request: the same key with another one is a conflict.' }),
    ),
    id: Type.Optional(
      Type.String({ description: 'Names the attempt: a request repeated with it gets the same one.' }),
    ),
    lease,
    keepResult: duration('How long the request is remembered beyond its lease; default 24h.'),
  },
  strict,
)
const Keeping = Type.Object({ keepResult }, strict)

type Open = (request: FastifyRequest, options?: Omit<OnceOptions<string>, 'codec'>) => Once<string>

export function v1Once(app: App, parts: Parts): void {
  const open: Open = (request, options = {}) => {
    const called = nameOf(request, (request.params as { name: string }).name)
    return parts.perilune.once(called, { ...options, codec: jsonText })
  }
  begin(app, parts, open)
  complete(app, parts, open)
  const place = {
    url: `${url}/attempts/:token`,
    tag: 'once',
    params: AttemptPath,
    querystring: NoQuery,
    open: (request: FastifyRequest) => attemptsAt(open(request), (request.params as { key: string }).key),
  }
  keepLeases(app, place, parts.limits)
  wholeKeys(app, open)
}

function attemptsAt(once: Once<string>, key: string): Pick<Leases, 'extend' | 'release'> {
  return {
    extend: (token, lasting) => once.extend(key, token, lasting),
    release: (token) => once.release(key, token),
  }
}

function begin(app: App, parts: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Begin',
    params: KeyPath,
    querystring: WaitQuery,
    body: Terms,
    response: answers(begun, 410, ...BODY),
  }
  const options = { schema, bodyLimit: parts.limits.maxOtherBytes }
  app.post(`${url}/attempts`, options, async (request, reply) => {
    const { fingerprint, id, ...terms } = request.body
    const { key } = request.params
    const once = open(request, terms)
    const named = {
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(id === undefined ? {} : { id }),
    }
    const lend = (waiting: Waiting) => once.lend(key, { ...named, ...waiting })
    const lent = await askWaiting(reply, { waits: parts.waits, wait: request.query.wait }, lend)
    if (lent === null) return reply.code(204).send()
    // Nobody is there to do the work; by its id it may be somebody's who has asked again.
    const isLeft = lent.status === 'started' && reply.raw.destroyed
    if (isLeft && id === undefined) await once.release(key, lent.token)
    return sendBegun(request, reply, lent)
  })
}

function sendBegun(request: FastifyRequest, reply: FastifyReply, lent: LentAttempt<string>): FastifyReply {
  switch (lent.status) {
    case 'started': {
      const { token, leaseMs, expiresAtMs } = lent
      const place = `${request.url.split('?', 1)[0]}/${token}`
      return reply.code(201).header('Location', place).send({ token, leaseMs, expiresAtMs })
    }
    case 'replayed':
      return reply.type('application/json').send(`{"token":${lent.token},"result":${orNull(lent.result)}}`)
    case 'running':
      throw new Denial('running', 'Another attempt is under way.', { retryAfterMs: lent.retryAfterMs })
    default:
      throw new Denial('conflict', 'The key came with another fingerprint before.')
  }
}

function complete(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Put the result',
    description: 'Any JSON; kept to the letter. The same result may be put again.',
    params: AttemptPath,
    querystring: Keeping,
    body: Type.Unknown(),
    response: answers(completed, 410, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxAppendBytes }
  app.put(`${url}/attempts/:token/result`, options, async (request, reply) => {
    const { key, token } = request.params
    if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
    await open(request, request.query).complete(key, Number(token), request.jsonText)
    return reply.code(204).send()
  })
}

function wholeKeys(app: App, open: Open): void {
  const seen = { tags, summary: 'Inspect', params: KeyPath, querystring: NoQuery, response: answers(picture) }
  app.get(url, { schema: seen }, async (request) => {
    const { key } = request.params
    const { codec: _codec, ...shown } = await open(request).inspect(key)
    return { key, ...shown }
  })

  const kept = {
    tags,
    summary: 'The result',
    params: KeyPath,
    querystring: NoQuery,
    response: answers(found, 404),
  }
  app.get(`${url}/result`, { schema: kept }, async (request, reply) => {
    const { key } = request.params
    const known = await open(request).find(key)
    if (known === null) throw new Refusal('not-found', `There is no result of ${key}.`)
    const { token, keptUntilMs, result } = known
    return reply
      .type('application/json')
      .send(`{"token":${token},"keptUntilMs":${keptUntilMs},"result":${orNull(result)}}`)
  })

  const gone = { tags, summary: 'Clear', params: KeyPath, querystring: NoQuery, response: answers(cleared) }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await open(request).clear(request.params.key)
    return reply.code(204).send()
  })
}

/** The library may have stored that there is no result. */
function orNull(result: string): string {
  return result === '' ? 'null' : result
}
