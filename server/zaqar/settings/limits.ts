// Every limit of the service, with Zaqar's defaults. Durations are in seconds. The environment may set each:
// PERILUNE_MAX_MESSAGES_PER_PAGE for maxMessagesPerPage.

import { type Environment, StartError } from '../../process/environment.ts'

export interface Limits {
  defaultMessageTtl: number
  minMessageTtl: number
  maxMessageTtl: number
  defaultMessageDelay: number
  maxMessageDelay: number
  defaultClaimTtl: number
  defaultClaimGrace: number
  minClaimTtl: number
  minClaimGrace: number
  maxClaimTtl: number
  maxClaimGrace: number
  defaultPage: number
  maxMessagesPerPage: number
  maxQueuesPerPage: number
  maxSubscriptionsPerPage: number
  maxMessagesPerClaimOrPop: number
  /** Tiny messages cost far more than their bytes. */
  maxMessagesPerPost: number
  /** Largest body of a post of messages, in bytes. */
  maxMessagesPostSize: number
  /** Largest body of a request that sets metadata, and the largest resulting metadata, in bytes. */
  maxQueueMetadata: number
  /** Largest other body, in bytes. */
  maxOtherBody: number
  /** How deep metadata may be nested. */
  maxMetadataDepth: number
  maxProjectLength: number
  /** `_max_claim_count`. */
  maxClaimCount: number
  /** Ids in a Location header; clients reject longer ones. */
  maxLocationIds: number
  /** How long metadata is used without a refresh, in milliseconds. */
  metadataFreshMs: number
  /** Queues whose metadata one process remembers. */
  maxRememberedQueues: number
  defaultSubscriptionTtl: number
  minSubscriptionTtl: number
  maxSubscriptionTtl: number
  maxSubscriptionsPerQueue: number
  /** Largest body of one push or question, in bytes. */
  maxWebhookBody: number
  /** How long a subscriber may take to answer a push, in milliseconds. */
  webhookTimeoutMs: number
  /** Concurrent pushes to one subscriber. */
  webhookConcurrency: number
  /** Subscribers that one process serves at once, and as many more slow ones. */
  webhookSubscribers: number
}

interface Limit {
  readonly byDefault: number
  readonly min: number
  readonly max: number
}

const DAY = 86_400
const YEARS = 3650 * DAY
const ANY = 1_000_000_000

const limit = (byDefault: number, min: number, max: number): Limit => ({ byDefault, min, max })

const table: Readonly<Record<keyof Limits, Limit>> = {
  defaultMessageTtl: limit(3600, 1, YEARS),
  minMessageTtl: limit(60, 1, YEARS),
  maxMessageTtl: limit(14 * DAY, 1, YEARS),
  defaultMessageDelay: limit(0, 0, 365 * DAY),
  maxMessageDelay: limit(900, 0, 365 * DAY),
  defaultClaimTtl: limit(300, 1, 30 * DAY),
  defaultClaimGrace: limit(60, 0, 30 * DAY),
  minClaimTtl: limit(60, 1, 30 * DAY),
  minClaimGrace: limit(60, 0, 30 * DAY),
  maxClaimTtl: limit(DAY / 2, 1, 30 * DAY),
  maxClaimGrace: limit(DAY / 2, 0, 30 * DAY),
  defaultPage: limit(10, 1, 1000),
  maxMessagesPerPage: limit(20, 1, 1000),
  maxQueuesPerPage: limit(20, 1, 1000),
  maxSubscriptionsPerPage: limit(20, 1, 1000),
  maxMessagesPerClaimOrPop: limit(20, 1, 1000),
  maxMessagesPerPost: limit(1000, 1, 10_000),
  // A push has more than its message, and a feed accepts bodies of 4 MiB.
  maxMessagesPostSize: limit(262_144, 1, 4 * 1024 * 1024 - 1024),
  maxQueueMetadata: limit(65_536, 2, 1024 * 1024),
  maxOtherBody: limit(65_536, 2, 1024 * 1024),
  maxMetadataDepth: limit(100, 1, 1000),
  maxProjectLength: limit(256, 1, 4096),
  maxClaimCount: limit(1_000_000, 1, 1_000_000),
  maxLocationIds: limit(200, 0, 400),
  metadataFreshMs: limit(1000, 0, 3_600_000),
  maxRememberedQueues: limit(10_000, 1, ANY),
  defaultSubscriptionTtl: limit(3600, 1, YEARS),
  minSubscriptionTtl: limit(60, 1, YEARS),
  maxSubscriptionTtl: limit(YEARS, 1, YEARS),
  maxSubscriptionsPerQueue: limit(100, 0, 1000),
  maxWebhookBody: limit(1024 * 1024, 2048, 16 * 1024 * 1024),
  webhookTimeoutMs: limit(5000, 10, 600_000),
  webhookConcurrency: limit(8, 1, 64),
  webhookSubscribers: limit(16, 1, 1000),
}

// In each pair the first may not be greater than the second.
const ORDERED: readonly (readonly (keyof Limits)[])[] = [
  ['minMessageTtl', 'defaultMessageTtl', 'maxMessageTtl'],
  ['defaultMessageDelay', 'maxMessageDelay'],
  ['minClaimTtl', 'defaultClaimTtl', 'maxClaimTtl'],
  ['minClaimGrace', 'defaultClaimGrace', 'maxClaimGrace'],
  ['minSubscriptionTtl', 'defaultSubscriptionTtl', 'maxSubscriptionTtl'],
  // A plain push of the largest message must be allowed.
  ['maxMessagesPostSize', 'maxWebhookBody'],
  ['defaultPage', 'maxMessagesPerPage'],
  ['defaultPage', 'maxQueuesPerPage'],
  ['defaultPage', 'maxSubscriptionsPerPage'],
  ['defaultPage', 'maxMessagesPerClaimOrPop'],
]

export const limitNames: readonly (keyof Limits)[] = Object.keys(table).filter(isLimit)

export const zaqarLimits: Limits = inTable((name) => table[name].byDefault)

/** The limits of the environment, and `otherwise` for the rest. Throws StartError. */
export function readLimits(environment: Environment, otherwise: Limits = zaqarLimits): Limits {
  const limits = inTable((name) => readLimit(name, environment) ?? otherwise[name])
  checkOrder(limits)
  return limits
}

/** `maxMessagesPerPage` → `PERILUNE_MAX_MESSAGES_PER_PAGE`. */
export function variableOf(name: keyof Limits): string {
  return `PERILUNE_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`
}

function readLimit(name: keyof Limits, environment: Environment): number | undefined {
  const variable = variableOf(name)
  const text = environment[variable]
  if (text === undefined || text === '') return undefined
  const { min, max } = table[name]
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) {
    throw new StartError(`${variable} must be a whole number from ${min} to ${max}, not '${text}'`)
  }
  return value
}

function checkOrder(limits: Limits): void {
  for (const names of ORDERED) {
    names.slice(1).forEach((higher, at) => {
      const lower = names[at] ?? higher
      if (limits[lower] <= limits[higher]) return
      const [one, other] = [lower, higher].map((name) => `${variableOf(name)} (${limits[name]})`)
      throw new StartError(`${one} must not be greater than ${other}`)
    })
  }
}

function inTable(value: (name: keyof Limits) => number): Limits {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has every limit
  return Object.fromEntries(limitNames.map((name) => [name, value(name)])) as unknown as Limits
}

function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(table, name)
}
