import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  InvalidArgumentError,
  jsonText,
  type DetachedAttempt,
  type Once,
  type LeasesByToken,
  type OnceOptions,
  type Waiting,
} from 'perilune'
import { namedIn, type Routes } from '../api/routes.ts'
import { WaitQuery, duration, lease, strict } from '../api/arguments.ts'
import { begun, cleared, completed, result as found, key as keyNow } from './answers.ts'
import { askWaiting } from '../api/leases.ts'
import { Denial, RefusedRequest } from '../../http/answers/problem-documents.ts'
import { keepLeases } from './leases.ts'

const url = '/once/:name/keys/:key'
const resultTtl = duration('How long the result is stored; default 24h.')
const path = { key: Type.String({ minLength: 1, description: 'The idempotency key.' }) }
const Terms = Type.Object(
  {
    fingerprint: Type.Optional(
      Type.String({
        description: 'Fingerprint of the request: the same key with another one is a conflict.',
      }),
    ),
    id: Type.Optional(
      Type.String({
        description: 'Id of the attempt: a repeated request with the same id gets the same attempt.',
      }),
    ),
    lease,
    resultTtl: duration('How long the request is remembered beyond its lease; default 24h.'),
  },
  strict,
)
const Keeping = Type.Object({ resultTtl }, strict)

type Open = (request: FastifyRequest, options?: Omit<OnceOptions<string>, 'codec'>) => Once<string>

export function v1Once(usual: Routes): void {
  const routes = usual.with({ path })
  const open: Open = (request, options = {}) => {
    const called = namedIn(request)
    return routes.perilune.once(called, { ...options, codec: jsonText })
  }
  begin(routes, open)
  complete(routes, open)
  const place = {
    url: `${url}/attempts/:token`,
    open: (request: FastifyRequest) => attemptsAt(open(request), (request.params as { key: string }).key),
  }
  keepLeases(routes, place)
  wholeKeys(routes, open)
}

function attemptsAt(once: Once<string>, key: string): Pick<LeasesByToken, 'extend' | 'release'> {
  return {
    extend: (token, lasting) => once.byToken.extend(key, token, lasting),
    release: (token) => once.byToken.release(key, token),
  }
}

function begin(routes: Routes, open: Open): void {
  routes.post(
    `${url}/attempts`,
    'Begin',
    { query: WaitQuery, body: Terms, answers: begun, or: [410] },
    async (request, reply) => {
      const { fingerprint, id, ...terms } = request.body
      const { key } = request.params
      const once = open(request, terms)
      const named = {
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(id === undefined ? {} : { id }),
      }
      const ask = (waiting: Waiting) => once.beginDetached(key, { ...named, ...waiting })
      const answer = await askWaiting(reply, { waits: routes.waits, wait: request.query.wait }, ask)
      if (answer === null) return reply.code(204).send()
      // Its client has left. An attempt with an id may belong to a client that has repeated its request.
      const isLeft = answer.status === 'started' && reply.raw.destroyed
      if (isLeft && id === undefined) await once.byToken.release(key, answer.token)
      return sendBegun(request, reply, answer)
    },
  )
}

function sendBegun(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: DetachedAttempt<string>,
): FastifyReply {
  switch (answer.status) {
    case 'started': {
      const { token, leaseMs, expiresAtMs } = answer
      const place = `${request.url.split('?', 1)[0]}/${token}`
      return reply.code(201).header('Location', place).send({ token, leaseMs, expiresAtMs })
    }
    case 'replayed':
      return reply
        .type('application/json')
        .send(`{"token":${answer.token},"result":${orNull(answer.result)}}`)
    case 'running':
      throw new Denial('running', 'Another attempt is in progress.', { retryAfterMs: answer.retryAfterMs })
    default:
      throw new Denial('conflict', 'The key was used with another fingerprint before.')
  }
}

function complete(routes: Routes, open: Open): void {
  routes.put(
    `${url}/attempts/:token/result`,
    'Put the result',
    {
      query: Keeping,
      description: 'Any JSON; stored unchanged. The same result may be put again.',
      body: Type.Unknown(),
      answers: completed,
      or: [410],
      large: true,
      documents: 'whole',
    },
    async (request) => {
      const { key, token } = request.params
      if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
      await open(request, request.query).byToken.complete(key, Number(token), request.jsonText)
    },
  )
}

function wholeKeys(routes: Routes, open: Open): void {
  routes.get(url, 'Inspect', { answers: keyNow }, async (request) => {
    const { key } = request.params
    const { codec: _codec, ...shown } = await open(request).inspect(key)
    return { key, ...shown }
  })

  routes.get(`${url}/result`, 'The result', { answers: found, or: [404] }, async (request, reply) => {
    const { key } = request.params
    const known = await open(request).get(key)
    if (known === null) throw new RefusedRequest('not-found', `There is no result of ${key}.`)
    const { token, keptUntilMs, result } = known
    return reply
      .type('application/json')
      .send(`{"token":${token},"keptUntilMs":${keptUntilMs},"result":${orNull(result)}}`)
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request).clear(request.params.key)
  })
}

/** The library may have stored that there is no result. */
function orNull(result: string): string {
  return result === '' ? 'null' : result
}
