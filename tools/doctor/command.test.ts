import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '../../test/servers/ask.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { CommandError } from '../command/error.ts'
import { ANY_MACHINE, examineAt, runDoctor, startTls, server } from './fixture.ts'
import { show } from './show.ts'

test('the output on a healthy server', async () => {
  const redis = await server()

  const { exitCode, text } = await runDoctor(redis.url, ...ANY_MACHINE, '--structures', 'lock,queue')
  const steady = text
    .replaceAll(String(redis.port), '6379')
    .replaceAll(/^ignored .*?\n(?=ok)/gms, '')
    // Their numbers change where a line breaks.
    .replaceAll(/^(ok {6}Memory).*?\n(?=ok)/gms, '$1 …\n')

  expect(exitCode).toBe(0)
  expect(steady).toMatchInlineSnapshot(`
    "Perilune 0.1.0 at redis://127.0.0.1:6379

    ok      Connection        The doctor reached 1 server: 127.0.0.1:6379.
    ok      TLS               The connection has no TLS and stays on this machine or in a private
                              network.
    ok      Topology          This is one server without Cluster; it knows no other server.
    ok      Writes            The server accepts writes.
    ok      Permissions       The user default has every right that lock, queue need.
    ok      Scripts           The server loads and runs the scripts of Perilune.
    ok      Eviction          The server never deletes keys to make room (noeviction).
    ok      Memory …
    ok      After a crash     A power loss takes the last second, or two when the disk is slow
                              (appendfsync everysec, class B).
    ok      Replication       The server has no replica. Nothing takes over when it is down.
    ok      Clock             The clock of the server ran steadily for a second.
    ok      Messages          A message came back at once.
    ok      Subscriptions     No process waits for a message of Perilune now.
    ok      Connections       The server has room for clients.
    ok      Slow calls        The slow log has no call of Perilune above 10 ms.
    ok      Layouts           This version reads the layout of every unit.
    ok      Keys that stay    Every key that should expire does.
    ok      Biggest units     The namespace has no keys.

    18 ok, 0 warnings, 0 failures, 0 unknown; exit code 0
    "
  `)
})

test('a server that never answers does not hang the doctor', async () => {
  const hung = createServer(() => {}).listen(0, '127.0.0.1')
  onTestFinished(() => void hung.close())
  await new Promise((resolve) => hung.once('listening', resolve))
  const { port } = hung.address() as AddressInfo
  const begun = performance.now()

  for (const scheme of ['redis', 'rediss', 'redis+cluster']) {
    const { exitCode, of } = await examineAt(`${scheme}://127.0.0.1:${port}`, '--timeout', '300ms')
    expect([scheme, exitCode, of('reach').why]).toEqual([
      scheme,
      2,
      expect.stringContaining('it gave no answer'),
    ])
  }
  const sentinel = await examineAt(`redis+sentinel://127.0.0.1:${port}/main`, '--timeout', '300ms')

  expect(sentinel.exitCode).toBe(2)
  expect(performance.now() - begun).toBeLessThan(10_000)
})

test('a server that stops in the middle leaves checks unknown', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const stop = setTimeout(() => process.kill(redis.pid, 'SIGSTOP'), 400)

  const { of } = await examineAt(redis.url, '--timeout', '500ms').finally(() => clearTimeout(stop))
  process.kill(redis.pid, 'SIGCONT')

  expect(of('clock').state).toBe('unknown')
})

test('a wrong password and a missing one have words of their own, and no password is printed', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  await ask(redis.port, 'CONFIG', 'SET', 'requirepass', 'right')

  const wrong = await runDoctor(`redis://:hush@127.0.0.1:${redis.port}`)
  const missing = await runDoctor(redis.url)
  const right = await examineAt(`redis://:right@127.0.0.1:${redis.port}`)

  expect([wrong.exitCode, missing.exitCode]).toEqual([2, 2])
  expect(wrong.text.replaceAll(/\s+/g, ' ')).toContain('it rejects this user or password')
  expect(missing.text).toContain('it wants a password')
  expect(wrong.text).not.toContain('hush')
  expect(JSON.stringify(right.report)).not.toContain('right@')
  expect(right.of('reach').state).toBe('ok')
})

test('a port with TLS and one without are explained', async () => {
  await using secure = await startTls(400)

  const plain = await examineAt(secure.redis.url.replace('redis:', 'rediss:'), '--timeout', '500ms')
  const tls = await examineAt(secure.url.replace('rediss:', 'redis:'))

  expect(plain.of('reach').mend).toContain('If the port does not speak TLS, use redis://')
  expect(tls.of('reach').mend).toContain('If the port wants TLS, use rediss://')
})

test('a server that refuses CONFIG, ACL and SCAN leaves nothing essential unknown', async () => {
  const redis = await startRedis({ aof: 'everysec' })
  onTestFinished(() => redis.stop())
  await ask(
    redis.port,
    'ACL',
    'SETUSER',
    'app',
    'on',
    '>pw',
    '~*',
    '&*',
    '+@all',
    '-config',
    '-acl',
    '-scan',
    '-slowlog',
  )

  const { exitCode, notOk, of } = await examineAt(`redis://app:pw@127.0.0.1:${redis.port}`, ...ANY_MACHINE)

  expect(exitCode).toBe(0)
  expect(notOk).toEqual({ 'slow-log': 'unknown', layouts: 'unknown', expiry: 'unknown', biggest: 'unknown' })
  expect(of('persistence').why).toContain('refuses CONFIG')
})

test.each([
  [['http://127.0.0.1'], 'the URL must be redis://'],
  [['redis://127.0.0.1:99999'], 'a port in the URL must be 1 to 65535'],
  [['redis+sentinel://127.0.0.1'], 'ends with the name of the primary'],
  [['--structures', 'locks'], '--structures must be some of'],
  [['--timeout', '5'], '--timeout must be'],
  [['--scan', '0'], '--scan must be'],
  [['--namespace', 'a b'], '--namespace must be'],
  [['--ignore', 'nothing'], 'there is no check nothing'],
  [['--nonsense'], '--nonsense'],
  [['redis://a', 'redis://b'], 'takes one URL'],
  [['--ca', 'x.pem', 'rediss://a'], 'cannot read x.pem'],
])('wrong usage is explained: %j', async (args, message) => {
  const failing = runDoctor(...args)

  await expect(failing).rejects.toThrow(CommandError)
  await expect(failing).rejects.toThrow(message)
})

test('the help lists every option and check', async () => {
  const { exitCode, text } = await runDoctor('--help')

  expect(exitCode).toBe(0)
  for (const word of ['--ca', '--structures', '--ignore', '--json', 'permissions', 'Exit code']) {
    expect(text).toContain(word)
  }
})

test('the table fits 80 columns, with and without colours', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { report } = await examineAt(redis.url)

  const plain = show(report, 80, false)
  const coloured = show(report, 80, true)

  expect(Math.max(...plain.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(plain).not.toContain('\u001B')
  expect(coloured).toContain('\u001B[31mfail')
})
