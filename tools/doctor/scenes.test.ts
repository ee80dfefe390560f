// The doctor on real servers, each with one thing that is wrong: it names that, and nothing else of the kind.

import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { ownClock } from '../../test/fire/topologies/clock-shim.ts'
import { ask } from '../../test/servers/ask.ts'
import { startCluster } from '../../test/servers/cluster.ts'
import { startReplica, startSentinels } from '../../test/servers/sentinels.ts'
import { ANY_MACHINE, examineAt, startTls, server } from './fixture.ts'

test('a healthy server has nothing to mend', async () => {
  const { url } = await server()

  const { exitCode, notOk, report } = await examineAt(url, ...ANY_MACHINE)

  expect({ exitCode, notOk }).toEqual({ exitCode: 0, notOk: {} })
  expect(report).toMatchObject({ format: 1, url, topology: 'single', state: 'ok', exitCode: 0 })
})

test('a server that evicts keys fails', async () => {
  const args = ['--maxmemory', '200mb', '--maxmemory-policy', 'allkeys-lru']
  const { url } = await server({ aof: 'everysec', args })

  const { exitCode, of, notOk } = await examineAt(url, ...ANY_MACHINE)

  expect({ exitCode, notOk }).toEqual({ exitCode: 2, notOk: { eviction: 'fail' } })
  expect(of('eviction').why).toContain('deletes any key, such as jobs, locks and messages')
  expect(of('eviction').mend).toContain('maxmemory-policy noeviction')
})

test('a read-only replica fails, and the doctor names the address of its primary', async () => {
  const primary = await server()
  const replica = await startReplica(primary)
  onTestFinished(() => replica.stop())

  const { exitCode, of } = await examineAt(replica.url)

  expect(exitCode).toBe(2)
  expect(of('writes')).toMatchObject({ state: 'fail', why: 'This is a replica, and it rejects every write.' })
  expect(of('writes').mend).toContain(primary.url)
})

test('a server without persistence fails, or only warns where nothing but a cache is used', async () => {
  const { url } = await server({})

  const all = await examineAt(url, ...ANY_MACHINE)
  const cache = await examineAt(url, ...ANY_MACHINE, '--structures', 'cache')

  expect({ exitCode: all.exitCode, notOk: all.notOk }).toEqual({
    exitCode: 2,
    notOk: { persistence: 'fail' },
  })
  expect(all.of('persistence').why).toContain('a restart loses everything, jobs and locks included')
  expect({ exitCode: cache.exitCode, notOk: cache.notOk }).toEqual({
    exitCode: 1,
    notOk: { persistence: 'warn' },
  })
})

test('a user without some rights fails, and the rule that the doctor prints mends it', async () => {
  const { port } = await server()
  const rules = 'on >secret resetkeys resetchannels ~perilune:{lock:* -@all +@all -zadd -script|load'
  await ask(port, 'ACL', 'SETUSER', 'app', ...rules.split(' '))
  const url = `redis://app:secret@127.0.0.1:${port}`
  const args = [...ANY_MACHINE, '--structures', 'lock,queue']

  const before = await examineAt(url, ...args)
  const rule = String(before.of('permissions').mend)
  await ask(port, 'ACL', 'SETUSER', ...rule.split(' ').slice(2))
  const after = await examineAt(url, ...args)

  expect([before.exitCode, before.of('permissions').state]).toEqual([2, 'fail'])
  expect(rule).toBe(
    'ACL SETUSER app ~perilune:{queue:* &perilune:{lock:* &perilune:{queue:* +publish +script|load +subscribe +zadd',
  )
  expect(before.report.url).toBe(`redis://127.0.0.1:${port}`)
  expect(after.of('permissions').state).toBe('ok')
})

test('a user without EVAL fails, with the rest of its rights where it may try them', async () => {
  const { port } = await server()
  await ask(port, 'ACL', 'SETUSER', 'tries', 'on', '>pw', '~*', '&*', '+@all', '-eval', '-hset')
  await ask(port, 'ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '&*', '+@all', '-eval', '-acl')
  const args = [...ANY_MACHINE, '--structures', 'lock']

  const tries = await examineAt(`redis://tries:pw@127.0.0.1:${port}`, ...args)
  const blind = await examineAt(`redis://blind:pw@127.0.0.1:${port}`, ...args)

  expect(tries.of('permissions')).toMatchObject({ state: 'fail', mend: 'ACL SETUSER tries +eval +hset' })
  expect(blind.of('permissions').state).toBe('fail')
  expect(blind.of('permissions').why).toContain('may not run EVAL')
  expect(blind.of('permissions').mend).toContain(
    'ACL SETUSER blind ~perilune:{lock:* &perilune:{lock:* +auth',
  )
})

test('the least rule of each structure is enough', async () => {
  const { port, url } = await server()
  const { default: contract } = await import('../../lua/contract.json', { with: { type: 'json' } })

  for (const [structure, { acl }] of Object.entries(contract.structures)) {
    const rule = acl.replaceAll('<namespace>', 'perilune')
    await ask(port, 'ACL', 'SETUSER', structure, 'reset', 'on', '>secret', ...rule.split(' '))
    const { of, exitCode } = await examineAt(
      url.replace('//', `//${structure}:secret@`),
      ...ANY_MACHINE,
      '--structures',
      structure,
    )
    expect([structure, of('permissions').why, exitCode]).toEqual([
      structure,
      expect.stringContaining('every right'),
      0,
    ])
    for (const id of ['scripts', 'writes', 'pubsub', 'clock']) expect([id, of(id).state]).toEqual([id, 'ok'])
  }
})

test('a cluster with a hole fails, and so do calls', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  for (const port of cluster.ports) await ask(port, 'CLUSTER', 'DELSLOTS', 5, 6)

  const { exitCode, of } = await examineAt(`redis://127.0.0.1:${cluster.ports[0]}`)

  expect(exitCode).toBe(2)
  expect(of('topology').state).toBe('fail')
  expect(of('topology').why).toContain('No node serves 2 slots (5-6)')
})

test('a whole cluster without replicas has warnings for that alone', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'appendonly', 'yes')

  const { exitCode, notOk, of, report } = await examineAt(
    `redis+cluster://127.0.0.1:${cluster.ports[1]}`,
    ...ANY_MACHINE,
  )

  expect({ exitCode, notOk }).toEqual({ exitCode: 1, notOk: { replication: 'warn' } })
  expect(report.servers).toHaveLength(3)
  for (const port of cluster.ports)
    await ask(port, 'ACL', 'SETUSER', 'app', 'on', '>pw', '~*', '&*', '+@all', '-info')
  const blind = await examineAt(`redis://app:pw@127.0.0.1:${cluster.ports[0]}`)
  expect(blind.report.topology).toBe('cluster')
  expect(blind.of('topology').state).toBe('ok')
  expect(blind.of('permissions')).toMatchObject({ state: 'warn', mend: 'ACL SETUSER app +info' })
  expect(of('pubsub').why).toContain('All 3 nodes: A message came back at once.')
})

test('a TLS server whose certificate has expired fails, and nothing is sent to it', async () => {
  await using expired = await startTls(-1)

  const { exitCode, of } = await examineAt(expired.url, '--ca', expired.ca)

  expect(exitCode).toBe(2)
  expect(of('tls').why).toMatch(/The certificate of localhost:\d+ expired on \d{4}-\d\d-\d\d\./)
  expect(of('reach').why).toContain('rejects its certificate')
  expect(of('persistence')).toMatchObject({ state: 'unknown', why: 'The doctor reached no server.' })
})

test('a certificate that ends soon is a warning, and one without its authority a failure', async () => {
  await using soon = await startTls(10)
  await using long = await startTls(400)

  expect((await examineAt(soon.url, '--ca', soon.ca)).of('tls')).toMatchObject({ state: 'warn' })
  expect((await examineAt(long.url, '--ca', long.ca)).of('tls')).toMatchObject({ state: 'ok' })
  const stranger = (await examineAt(long.url)).of('tls')
  expect(stranger.why).toContain('does not know the authority')
  expect(stranger.mend).toContain('--ca FILE')
})

test('a server whose clock jumps fails', async ({ skip }) => {
  const clock = ownClock()
  if (clock === null) {
    skip()
    return
  }
  onTestFinished(() => clock.remove())
  const { url } = await server({ aof: 'everysec', env: clock.env })
  let ahead = 0
  const jumping = setInterval(() => clock.set((ahead = 30 - ahead)), 150)

  const { exitCode, of } = await examineAt(url).finally(() => clearInterval(jumping))

  expect(exitCode).toBe(2)
  expect(of('clock').why).toMatch(/The clock of \S+ jumped by (29|30|31) s (forward|back)/)
})

test('a chain of replicas is examined as a whole, from each end', async () => {
  const primary = await server()
  const first = await startReplica(primary)
  const second = await startReplica(first)
  onTestFinished(async () => {
    await second.stop()
    await first.stop()
  })

  for (const { url } of [primary, second]) {
    const { report } = await examineAt(url)
    expect(report.servers.map(({ role }) => role).toSorted()).toEqual(['primary', 'replica', 'replica'])
  }
})

test('a replica whose clock is behind fails', async ({ skip }) => {
  const clock = ownClock()
  if (clock === null) {
    skip()
    return
  }
  onTestFinished(() => clock.remove())
  const primary = await server({ aof: 'everysec', env: clock.env })
  clock.set(60)
  const replica = await startReplica(primary)
  onTestFinished(() => replica.stop())

  const { of } = await examineAt(primary.url)

  expect(of('clock').state).toBe('fail')
  expect(of('clock').why).toContain(`The clock of 127.0.0.1:${replica.port} is 60 s behind`)
})

test('a subscription that sits on a replica fails', async () => {
  const primary = await server()
  const replica = await startReplica(primary)
  onTestFinished(() => replica.stop())
  const waiter = new Redis(replica.port)
  onTestFinished(() => waiter.disconnect())
  await waiter.subscribe('perilune:{lock:}:wake:4711')

  const { exitCode, of } = await examineAt(primary.url)
  waiter.disconnect()
  await expect.poll(() => ask(replica.port, 'PUBSUB', 'CHANNELS')).toEqual([])
  const after = await examineAt(primary.url)

  expect(exitCode).toBe(2)
  expect(of('subscriptions').why).toContain(
    'Subscriptions of 1 channel sit on this replica (perilune:{lock:}:wake:4711)',
  )
  expect(after.of('subscriptions').state).toBe('ok')
})

test('a subscription that sits on a replica of a cluster fails', async () => {
  const cluster = await startCluster({ masters: 1, replicasPerMaster: 1 })
  onTestFinished(() => cluster.stop())
  const waiter = new Redis(cluster.ports[1] ?? 0)
  onTestFinished(() => waiter.disconnect())
  await waiter.ssubscribe('perilune:{lock:deploy}:wake')

  const { of, report } = await examineAt(`redis://127.0.0.1:${cluster.ports[0]}`)

  expect(report.servers.map(({ role }) => role).toSorted()).toEqual(['primary', 'replica'])
  expect(of('subscriptions').state).toBe('fail')
  expect(of('persistence').why).toContain('(class D)')
})

test('a URL of a cluster to a server that is none is explained', async () => {
  const { url } = await server()

  const { of, exitCode } = await examineAt(url.replace('redis:', 'redis+cluster:'))

  expect([exitCode, of('topology').mend]).toEqual([2, 'Use redis:// instead of redis+cluster://.'])
})

test('a cluster that has lost a primary fails, and names it', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  await cluster.nodes[2]?.kill()
  const port = cluster.ports[0] ?? 0
  await expect.poll(() => ask(port, 'CLUSTER', 'INFO')).toContain('cluster_state:fail')

  const { of } = await examineAt(`redis://127.0.0.1:${port}`)

  expect(of('reach')).toMatchObject({ state: 'fail' })
  expect(of('topology').why).toContain(`The primary 127.0.0.1:${cluster.ports[2]} has failed.`)
  expect(of('writes').why).toContain('The cluster is down and rejects calls.')
})

test('Sentinel leads to its primary, and a wrong name or a plain URL to it are explained', async () => {
  const group = await startSentinels()
  onTestFinished(() => group.stop())
  const places = group.sentinelPorts.map((port) => `127.0.0.1:${port}`).join(',')

  const right = await examineAt(`redis+sentinel://${places}/${group.masterName}`)
  const wrong = await examineAt(`redis+sentinel://${places}/other`)
  const plain = await examineAt(`redis://127.0.0.1:${group.sentinelPorts[0]}`)

  expect(right.of('topology')).toMatchObject({ state: 'ok' })
  expect(right.report).toMatchObject({
    topology: 'sentinel',
    servers: [{ role: 'primary' }, { role: 'replica' }],
  })
  expect(right.of('replication').mend).toContain('min-replicas-to-write 1')
  expect([wrong.exitCode, wrong.of('reach').why]).toEqual([
    2,
    'The Sentinels do not know a primary named other.',
  ])
  expect(plain.of('reach').mend).toBe(
    `Use redis+sentinel://127.0.0.1:${group.sentinelPorts[0]}/${group.masterName}.`,
  )
})
