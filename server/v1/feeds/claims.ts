import { Type } from '@fastify/type-provider-typebox'
import { acked, claimed, extended, foundClaim, released } from '../api/answers.ts'
import { duration, limit, wait } from '../api/arguments.ts'
import { encodeClaim } from './encode.ts'
import type { FeedRoutes, Feeds } from './open.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

const strict = { additionalProperties: false }
const lease = duration('How long the claim lasts; default 30s.')
const grace = duration('Minimum life of messages after the end of their claim.')

const Waiting = Type.Object({ wait }, strict)
const Terms = Type.Object(
  {
    limit: limit(10),
    lease,
    grace,
    maxClaims: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Number of claims after which a message becomes a dead letter; 0 (default): never.',
      }),
    ),
    deadLettersTtl: duration('How long a dead letter lives; default: as long as the message would have.'),
  },
  strict,
)
const Extension = Type.Object({ lease, grace }, strict)

export function feedClaims(routes: FeedRoutes, feeds: Feeds): void {
  takeClaims(routes, feeds)
  keepClaims(routes, feeds)
  endClaims(routes, feeds)
}

function takeClaims(routes: FeedRoutes, feeds: Feeds): void {
  routes.post(
    '/feeds/:name/claims',
    'Claim',
    { query: Waiting, body: Terms, answers: claimed },
    async (request, reply) => {
      const { name } = request.params
      const { limit: most, lease: lasting, grace: beyond, ...dead } = request.body
      const feed = feeds.openBytes(request, name, dead)
      const options = {
        ...request.query,
        ...(most === undefined ? {} : { limit: most }),
        ...(lasting === undefined ? {} : { lease: lasting }),
        ...(beyond === undefined ? {} : { grace: beyond }),
      }
      const claim = await routes.waits.during(reply, (signal) => feed.claim({ ...options, signal }))
      if (claim === null) return reply.code(204).send()
      // The client has left: other clients need not wait for the lease to end.
      if (reply.raw.destroyed) await claim.release()
      return reply
        .code(201)
        .header('Location', `/v1/feeds/${encodeURIComponent(name)}/claims/${claim.token}`)
        .type('application/json')
        .send(encodeClaim(claim))
    },
  )
}

function keepClaims(routes: FeedRoutes, feeds: Feeds): void {
  const url = '/feeds/:name/claims/:token'

  routes.get(url, 'Look a claim up', { answers: foundClaim, or: [404] }, async (request, reply) => {
    const { name, token } = request.params
    const claim = await feeds.openBytes(request, name).byToken.get({ token: Number(token) })
    if (claim === null)
      throw new RefusedRequest('not-found', `The claim ${token} has ended, or never existed.`)
    return reply.type('application/json').send(encodeClaim(claim))
  })

  routes.patch(url, 'Extend', { body: Extension, answers: extended, or: [410] }, async (request) => {
    const { name, token } = request.params
    const { lease: lasting = '30s', ...options } = request.body
    const named = { token: Number(token) }
    const { leaseMs, expiresAtMs, claims } = await feeds
      .open(request, name)
      .byToken.extend([named], lasting, options)
    notLost(claims, token)
    return { ...named, leaseMs, expiresAtMs }
  })
}

function endClaims(routes: FeedRoutes, feeds: Feeds): void {
  const url = '/feeds/:name/claims/:token'

  routes.delete(url, 'Release', { answers: released, or: [410] }, async (request) => {
    const { name, token } = request.params
    notLost(await feeds.open(request, name).byToken.release([{ token: Number(token) }]), token)
  })

  routes.delete(`${url}/messages`, 'Ack all messages', { answers: acked, or: [410] }, async (request) => {
    const { name, token } = request.params
    notLost(await feeds.open(request, name).byToken.ack([{ token: Number(token) }]), token)
  })

  routes.delete(
    `${url}/messages/:id`,
    'Ack one message',
    { answers: acked, or: [409, 410] },
    async (request) => {
      const { name, token, id } = request.params
      const settled = await feeds.open(request, name).byToken.ack([{ token: Number(token), ids: [id] }])
      const [refused] = notLost(settled, token).refused
      if (refused !== undefined) {
        throw new RefusedRequest('refused', `The claim does not hold the message ${id}.`, refused.reason)
      }
    },
  )
}

/** The outcome of the only claim. Throws Refusal if it was lost. */
function notLost<Result extends { readonly outcome: string }>(
  [only]: readonly Result[],
  token: string,
): Exclude<Result, { readonly outcome: 'lost' }> {
  if (only === undefined || only.outcome === 'lost') {
    throw new RefusedRequest('lease-lost', `The claim ${token} has ended, or never existed.`)
  }
  return only as Exclude<Result, { readonly outcome: 'lost' }>
}
