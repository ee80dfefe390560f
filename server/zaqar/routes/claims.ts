import type { Claim, ClaimOptions, ExtendOptions } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { untilLeft } from '../../http/requests/left.ts'
import type { Limits } from '../settings/limits.ts'
import { notFound, type Problem } from '../../http/answers/problems.ts'
import type { QueuePlace } from '../queues/place.ts'
import type { Queues } from '../queues/queues.ts'
import { type JsonObject, parseObject, textOfBody, wholeNumber } from '../requests/body.ts'
import { claimPath, encodeClaim, encodeClaimed } from './encode.ts'
import { termsOf } from '../requests/metadata.ts'
import { ClaimPath, QueuePath, tokenOf } from '../requests/names.ts'
import { countOf, queryOf } from '../../http/requests/query.ts'

export function zaqarClaims(app: App, queues: Queues, limits: Limits): void {
  takeClaims(app, queues, limits)
  keepClaims(app, queues, limits)
}

function takeClaims(app: App, queues: Queues, limits: Limits): void {
  const route = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post('/queues/:queue/claims', route, async (request, reply) => {
    const place = { tenant: request.tenant, queue: request.params.queue }
    const limit = countOf(queryOf(request), 'limit', limits.maxMessagesPerClaimOrPop) ?? limits.defaultPage
    const terms = readNewClaimTerms(textOfBody(request.body), limits)
    const { deadLetters } = termsOf((await queues.registry.recall(place)) ?? {}, limits)
    const options = { limit, ...toLease(terms), signal: untilLeft(reply) }
    const claim = await queues.claim(place, options, deadLetters)
    if (claim === null) return reply.code(204).send()
    return reply
      .code(201)
      .type('application/json')
      .header('Location', claimPath(place.queue, claim.token))
      .send(encodeClaimed(place.queue, claim, terms.grace))
  })
}

function keepClaims(app: App, queues: Queues, limits: Limits): void {
  const url = '/queues/:queue/claims/:claim'
  const options = { schema: { params: ClaimPath }, bodyLimit: limits.maxOtherBody }

  app.get(url, options, async ({ tenant, params }, reply) => {
    const { queue, claim: id } = params
    const claim = await findClaim(queues, { tenant, queue }, id)
    if (claim === null) throw unknownClaim(id)
    return reply.type('application/json').send(encodeClaim(queue, claim))
  })

  app.patch(url, options, async ({ tenant, params, body }, reply) => {
    const { queue, claim: id } = params
    const { lease, grace } = toLease(readClaimTerms(textOfBody(body), limits))
    const token = tokenOf(id)
    const feed = queues.feed({ tenant, queue })
    if (token === null) throw unknownClaim(id)
    const { claims } = await feed.byToken.extend([{ token }], lease, { grace })
    if (claims[0]?.outcome === 'lost') throw unknownClaim(id)
    return reply.code(204).send()
  })

  app.delete(url, options, async ({ tenant, params }, reply) => {
    const token = tokenOf(params.claim)
    const feed = queues.feed({ tenant, queue: params.queue })
    if (token !== null) await feed.byToken.release([{ token }])
    return reply.code(204).send()
  })
}

async function findClaim(queues: Queues, place: QueuePlace, id: string): Promise<Claim<string> | null> {
  const token = tokenOf(id)
  return token === null ? null : queues.feed(place).byToken.get({ token })
}

function unknownClaim(id: string): Problem {
  return notFound(`There is no claim ${id}.`)
}

/** How long a claim lasts, and how long its messages live after it, in seconds. */
interface ClaimTerms {
  readonly ttl: number
  readonly grace: number
}

/** For a new claim: OpenStack's own client sends null for options that were not given. */
function readNewClaimTerms(text: string, limits: Limits): ClaimTerms {
  const given = Object.entries(readTerms(text)).filter(([, value]) => value !== null)
  return checkTerms(Object.fromEntries(given), limits)
}

function readClaimTerms(text: string, limits: Limits): ClaimTerms {
  return checkTerms(readTerms(text), limits)
}

function readTerms(text: string): JsonObject {
  return text === '' ? {} : parseObject(text)
}

function checkTerms(terms: JsonObject, limits: Limits): ClaimTerms {
  const { defaultClaimTtl, minClaimTtl, maxClaimTtl, defaultClaimGrace, minClaimGrace, maxClaimGrace } =
    limits
  return {
    ttl: wholeNumber(terms, 'ttl', defaultClaimTtl, [minClaimTtl, maxClaimTtl]),
    grace: wholeNumber(terms, 'grace', defaultClaimGrace, [minClaimGrace, maxClaimGrace]),
  }
}

function toLease({ ttl, grace }: ClaimTerms): Required<Pick<ClaimOptions, 'lease'> & ExtendOptions> {
  return { lease: `${ttl}s`, grace: `${grace}s` }
}
