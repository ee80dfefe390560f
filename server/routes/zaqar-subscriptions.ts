import type { App } from '../fastify.ts'
import type { Limits } from '../limits.ts'
import { conflict, notFound, type Problem } from '../problems.ts'
import type { Queues } from '../queues/queues.ts'
import { checkSubscriber } from '../subscriptions/subscriber.ts'
import { ageOf, type Subscription, type SubscriptionEntry } from '../subscriptions/subscription.ts'
import type { Webhooks } from '../subscriptions/webhooks.ts'
import { textOfBody } from '../zaqar/body.ts'
import { queuePath } from '../zaqar/encode.ts'
import { projectOf } from '../zaqar/headers.ts'
import { QueuePath, SubscriptionPath } from '../zaqar/names.ts'
import { countOf, nextQuery, queryOf, textOf } from '../zaqar/query.ts'
import type { ZaqarSettings } from '../zaqar/settings.ts'
import { readConfirmation, readSubscription, readSubscriptionPatch } from '../zaqar/subscription-terms.ts'

const ALL = '/queues/:queue/subscriptions'
const ONE = `${ALL}/:subscription`

export function zaqarSubscriptions(app: App, queues: Queues, settings: ZaqarSettings): void {
  const { webhooks } = queues
  makeSubscriptions(app, queues, settings)
  changeSubscriptions(app, webhooks, settings)
  confirmSubscriptions(app, webhooks, settings.limits)
  showSubscriptions(app, webhooks, settings.limits)
}

function makeSubscriptions(app: App, queues: Queues, { limits, webhookAllow }: ZaqarSettings): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post(ALL, options, async ({ tenant, params, headers, body }, reply) => {
    const place = { tenant, queue: params.queue }
    const terms = readSubscription(textOfBody(body), limits)
    await checkSubscriber(terms.subscriber, webhookAllow)
    await queues.ensure(place)
    const entry = await queues.webhooks.subscriptions.add(place, { ...terms, project: projectOf(headers) })
    if (entry.subscription.confirmed) throw conflict('This subscriber has a confirmed subscription already.')
    await queues.webhooks.ask(place, entry, 'confirm')
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
    const place = { tenant, queue }
    const terms = readSubscriptionPatch(textOfBody(body), limits)
    if (terms.subscriber !== undefined) {
      await checkSubscriber(terms.subscriber, webhookAllow)
      await webhooks.subscriptions.refuseTaken(place, terms.subscriber, id)
    }
    const changed = await webhooks.subscriptions.change(place, id, (known, nowMs) =>
      apply(known, terms, nowMs),
    )
    if (changed === null) throw unknownSubscription(id)
    if (changed.confirmed || terms.subscriber === undefined) await webhooks.tell(place)
    else await webhooks.ask(place, { id, subscription: changed }, 'confirm')
    return reply.code(204).send()
  })

  app.delete(ONE, options, async ({ tenant, params }, reply) => {
    const place = { tenant, queue: params.queue }
    await webhooks.subscriptions.remove(place, params.subscription)
    await webhooks.tell(place)
    return reply.code(204).send()
  })
}

/** Whoever receives at a new URL has not confirmed anything. A new ttl counts from now. */
function apply(known: Subscription, terms: Partial<Subscription>, nowMs: number): Subscription {
  const isMoved = terms.subscriber !== undefined && terms.subscriber !== known.subscriber
  return {
    ...known,
    ...terms,
    ...(isMoved ? { confirmed: false } : {}),
    ...(terms.ttl === undefined ? {} : { startedAtMs: nowMs }),
  }
}

function confirmSubscriptions(app: App, webhooks: Webhooks, limits: Limits): void {
  const options = { schema: { params: SubscriptionPath }, bodyLimit: limits.maxOtherBody }
  app.put(`${ONE}/confirm`, options, async ({ tenant, params, body }, reply) => {
    const { queue, subscription: id } = params
    const place = { tenant, queue }
    const confirmed = readConfirmation(textOfBody(body))
    const changed = await webhooks.subscriptions.change(place, id, (known) => ({ ...known, confirmed }))
    if (changed === null) throw unknownSubscription(id)
    if (confirmed) await webhooks.tell(place)
    else await webhooks.ask(place, { id, subscription: changed }, 'farewell')
    return reply.code(204).send()
  })
}

function showSubscriptions(app: App, { subscriptions }: Webhooks, limits: Limits): void {
  app.get(ALL, { schema: { params: QueuePath } }, async (request) => {
    const { tenant, params } = request
    const query = queryOf(request)
    const limit = countOf(query, 'limit', limits.maxSubscriptionsPerPage) ?? limits.defaultPage
    const marker = textOf(query, 'marker')
    const entries = await subscriptions.list({ tenant, queue: params.queue }, { limit, marker })
    const nowMs = await subscriptions.clock.nowMs()
    const last = entries.at(-1)
    const path = `${queuePath(params.queue)}/subscriptions`
    return {
      subscriptions: entries.map((entry) => encode(params.queue, entry, nowMs)),
      links: last ? [{ rel: 'next', href: `${path}?${nextQuery(query, ['limit'], last.id)}` }] : [],
    }
  })

  app.get(ONE, { schema: { params: SubscriptionPath } }, async ({ tenant, params }) => {
    const { queue, subscription: id } = params
    const subscription = await subscriptions.get({ tenant, queue }, id)
    if (subscription === null) throw unknownSubscription(id)
    return encode(queue, { id, subscription }, await subscriptions.clock.nowMs())
  })
}

function encode(queue: string, { id, subscription }: SubscriptionEntry, nowMs: number): object {
  const { subscriber, ttl, options, confirmed } = subscription
  return { id, subscriber, source: queue, ttl, age: ageOf(subscription, nowMs), options, confirmed }
}

function subscriptionPath(queue: string, id: string): string {
  return `${queuePath(queue)}/subscriptions/${id}`
}

function unknownSubscription(id: string): Problem {
  return notFound(`There is no subscription ${id}.`)
}
