import { expect, inject, test } from 'vitest'
import { startApp } from './testing/test-app.ts'
test('smoke', async () => {
  await using app = await startApp(inject('redisPort'))
  const show = async (m: string, p: string, o = {}) => {
    const a = await app.call(m, p, o)
    console.log(m, p, a.status, a.text, a.headers.get('location'))
    return a
  }
  await show('GET', '/livez')
  await show('GET', '/readyz')
  await show('GET', '/v2/ping')
  await show('HEAD', '/v2/ping')
  await show('POST', '/v2/ping')
  await show('GET', '/v2/nowhere')
  await show('DELETE', '/v2/queues')
  await show('PUT', '/v2/queues/q1', { body: { a: 1 } })
  await show('PUT', '/v2/queues/q1')
  await show('GET', '/v2/queues/q1')
  await show('POST', '/v2/queues/q1/messages', {
    body: '{"messages":[{"body":1e400},{"body":  {"a":[],  "b":9007199254740993},"ttl":60}]}',
  })
  const p = await show('GET', '/v2/queues/q1/messages?echo=true')
  await show('GET', p.json.links[0].href)
  await show('GET', '/v2/queues/q1/stats')
  const c = await show('POST', '/v2/queues/q1/claims?limit=1', { body: { ttl: 100 } })
  await show('GET', c.headers.get('location')!)
  await show('DELETE', c.json.messages[0].href)
  await show('DELETE', '/v2/queues/q1/messages?pop=5')
  await show('PATCH', '/v2/queues/q1', {
    body: [{ op: 'add', path: '/metadata/x', value: 3 }],
    headers: { 'Content-Type': 'application/openstack-messaging-v2.0-json-patch' },
  })
  await show('PATCH', '/v2/queues/q1', { body: [] })
  await show('GET', '/v2/queues?detailed=true&with_count=true')
  await show('GET', '/v2/queues/a%ZZ')
  await show('GET', '/v2/queues/a%20b')
  await show('GET', '/v2/queues/' + 'a'.repeat(300))
  await show('DELETE', '/v2/queues/q1')
  expect(1).toBe(1)
})
