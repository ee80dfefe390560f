import type { App } from '../../http/fastify.ts'

/** For every client, with or without headers. */
export function zaqarVersions(app: App): void {
  app.get('/', async (_request, reply) => reply.code(300).type('application/json').send(versions))
}

export function zaqarHome(app: App): void {
  app.get('/', { prefixTrailingSlash: 'slash' }, async (_request, reply) =>
    reply.type('application/json-home').header('Cache-Control', 'max-age=86400').send(homeDocument),
  )
}

interface Resource {
  readonly path: string
  /** Of the query. */
  readonly parameters?: readonly string[]
  readonly methods: readonly string[]
}

const QUEUE = '/v2/queues/{queue_name}'

const resources: Readonly<Record<string, Resource>> = {
  'rel/queues': {
    path: '/v2/queues',
    parameters: ['marker', 'limit', 'detailed', 'name', 'with_count'],
    methods: ['GET'],
  },
  'rel/queue': { path: QUEUE, methods: ['GET', 'PUT', 'PATCH', 'DELETE'] },
  'rel/queue_stats': { path: `${QUEUE}/stats`, methods: ['GET'] },
  'rel/queue_share': { path: `${QUEUE}/share`, methods: ['POST'] },
  'rel/queue_purge': { path: `${QUEUE}/purge`, methods: ['POST'] },
  'rel/messages': {
    path: `${QUEUE}/messages`,
    parameters: ['marker', 'limit', 'echo', 'include_claimed', 'include_delayed', 'ids'],
    methods: ['GET'],
  },
  'rel/post_messages': { path: `${QUEUE}/messages`, methods: ['POST'] },
  'rel/messages_delete': { path: `${QUEUE}/messages`, parameters: ['ids', 'pop'], methods: ['DELETE'] },
  'rel/message_get': { path: `${QUEUE}/messages/{message_id}`, methods: ['GET'] },
  'rel/message_delete': {
    path: `${QUEUE}/messages/{message_id}`,
    parameters: ['claim_id'],
    methods: ['DELETE'],
  },
  'rel/post_claim': { path: `${QUEUE}/claims`, parameters: ['limit'], methods: ['POST'] },
  'rel/claim': { path: `${QUEUE}/claims/{claim_id}`, methods: ['GET'] },
  'rel/patch_claim': { path: `${QUEUE}/claims/{claim_id}`, methods: ['PATCH'] },
  'rel/delete_claim': { path: `${QUEUE}/claims/{claim_id}`, methods: ['DELETE'] },
  'rel/subscriptions_get': {
    path: `${QUEUE}/subscriptions`,
    parameters: ['marker', 'limit'],
    methods: ['GET'],
  },
  'rel/subscriptions_post': { path: `${QUEUE}/subscriptions`, methods: ['POST'] },
  'rel/subscription': { path: `${QUEUE}/subscriptions/{subscription_id}`, methods: ['GET', 'DELETE'] },
  'rel/subscription_patch': { path: `${QUEUE}/subscriptions/{subscription_id}`, methods: ['PATCH'] },
  'rel/subscription_confirm': { path: `${QUEUE}/subscriptions/{subscription_id}/confirm`, methods: ['PUT'] },
  'rel/ping': { path: '/v2/ping', methods: ['GET'] },
}

const homeDocument: string = JSON.stringify({
  resources: Object.fromEntries(Object.entries(resources).map(([name, one]) => [name, describe(one)])),
})

export const versions: string = JSON.stringify({
  versions: [
    {
      id: '2',
      status: 'CURRENT',
      updated: '2014-09-24T04:06:47Z',
      'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.messaging-v2+json' }],
      links: [{ rel: 'self', href: '/v2/' }],
    },
  ],
})

function describe({ path, parameters = [], methods }: Resource): object {
  const variables = [...[...path.matchAll(/{(\w+)}/g)].map(([, name = '']) => name), ...parameters]
  const place =
    variables.length === 0
      ? { href: path }
      : {
          'href-template': parameters.length === 0 ? path : `${path}{?${parameters.join(',')}}`,
          'href-vars': Object.fromEntries(variables.map((name) => [name, `param/${name}`])),
        }
  const takesBody = methods.some((method) => method === 'POST')
  const hints = { allow: methods, formats: { 'application/json': {} } }
  return { ...place, hints: takesBody ? { ...hints, 'accept-post': ['application/json'] } : hints }
}
