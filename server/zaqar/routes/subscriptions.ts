import type { App } from '../../http/fastify.ts'
import type { Limits } from '../settings/limits.ts'
import { conflict, notFound, type Problem } from '../../http/answers/problems.ts'
import type { Queues } from '../queues/queues.ts'
import { checkSubscriber } from '../webhooks/subscriber.ts'
import { ageOf, type SubscriptionEntry } from '../subscriptions/subscription.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { type JsonObject, textOfBody } from '../requests/body.ts'
import { queuePath } from './encode.ts'
import { projectOf } from '../requests/headers.ts'
import { QueuePath, SubscriptionPath } from '../requests/names.ts'
import { countOf, nextQuery, queryOf, textOf } from '../../http/requests/query.ts'
import type { ZaqarSettings } from '../settings/settings.ts'
import { readConfirmation, readSubscription, readSubscriptionPatch } from '../subscriptions/terms.ts'

const ALL = '/queues/:queue/subscriptions'
const ONE = `${ALL}/:subscription`

export function zaqarSubscriptions(
  app: App,
  queues: Queues,
  webhooks: Webhooks,
  settings: ZaqarSettings,
): void {
  makeSubscriptions(app, queues, webhooks, settings)
  changeSubscriptions(app, webhooks, settings)
  confirmSubscriptions(app, webhooks, settings.limits)
  showSubscriptions(app, webhooks, settings.limits)
}

function makeSubscriptions(
  app: App,
  queues: Queues,
  webhooks: Webhooks,
  { limits, webhookAllow }: ZaqarSettings,
): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post(ALL, options, async ({ tenant, params, headers, body }, reply) => {
    const place = { tenant, queue: params.queue }
    const terms = readSubscription(textOfBody(body), limits)
    await checkSubscriber(terms.subscriber, webhookAllow)
    await queues.ensure(place)
    const entry = await webhooks.subscribe(place, { ...terms, project: projectOf(headers) })
    if (entry.subscription.confirmed) throw conflict('This subscriber has a confirmed subscription already.')
    return reply
      .code(201)
      .header('Location', subscriptionPath(params.queue, entry.id))
      .send({ subscription_id: entry.id })
  })
}

function changeSubscriptions(app: App, webhooks: Webhooks, { limits, webhookAllow }: ZaqarSettings): void {
  const options = { schema: { params: SubscriptionPath }, bodyLimit: limits.maxOtherBody }

  app.patch(ONE, options, async ({ tenant, params, body }, reply) => {
    const { queue, subscription: id } = params
    const terms = readSubscriptionPatch(textOfBody(body), limits)
    if (terms.subscriber !== undefined) await checkSubscriber(terms.subscriber, webhookAllow)
    const changed = await webhooks.change({ tenant, queue }, id, terms)
    if (changed === null) throw unknownSubscription(id)
    return reply.code(204).send()
  })

  app.delete(ONE, options, async ({ tenant, params }, reply) => {
    await webhooks.remove({ tenant, queue: params.queue }, params.subscription)
    return reply.code(204).send()
  })
}

function confirmSubscriptions(app: App, webhooks: Webhooks, limits: Limits): void {
  const options = { schema: { params: SubscriptionPath }, bodyLimit: limits.maxOtherBody }
  app.put(`${ONE}/confirm`, options, async ({ tenant, params, body }, reply) => {
    const { queue, subscription: id } = params
    const confirmed = readConfirmation(textOfBody(body))
    const changed = await webhooks.confirm({ tenant, queue }, id, confirmed)
    if (changed === null) throw unknownSubscription(id)
    return reply.code(204).send()
  })
}

function showSubscriptions(app: App, { subscriptions }: Webhooks, limits: Limits): void {
  app.get(ALL, { schema: { params: QueuePath } }, async (request) => {
    const { tenant, params } = request
    const query = queryOf(request)
    const limit = countOf(query, 'limit', limits.maxSubscriptionsPerPage) ?? limits.defaultPage
    const marker = textOf(query, 'marker')
    const place = { tenant, queue: params.queue }
    const entries = await subscriptions.list(place, { limit, marker })
    const options = await Promise.all(entries.map((entry) => subscriptions.options(place, entry)))
    const nowMs = await subscriptions.clock.nowMs()
    const last = entries.at(-1)
    const path = `${queuePath(params.queue)}/subscriptions`
    return {
      subscriptions: entries.map((entry, at) => encode(params.queue, entry, options[at] ?? {}, nowMs)),
      links: last ? [{ rel: 'next', href: `${path}?${nextQuery(query, ['limit'], last.id)}` }] : [],
    }
  })

  app.get(ONE, { schema: { params: SubscriptionPath } }, async ({ tenant, params }) => {
    const { queue, subscription: id } = params
    const place = { tenant, queue }
    const subscription = await subscriptions.get(place, id)
    if (subscription === null) throw unknownSubscription(id)
    const entry = { id, subscription }
    const options = await subscriptions.options(place, entry)
    return encode(queue, entry, options, await subscriptions.clock.nowMs())
  })
}

function encode(
  queue: string,
  { id, subscription }: SubscriptionEntry,
  options: JsonObject,
  nowMs: number,
): object {
  const { subscriber, ttl, confirmed } = subscription
  return { id, subscriber, source: queue, ttl, age: ageOf(subscription, nowMs), options, confirmed }
}

function subscriptionPath(queue: string, id: string): string {
  return `${queuePath(queue)}/subscriptions/${id}`
}

function unknownSubscription(id: string): Problem {
  return notFound(`There is no subscription ${id}.`)
}
