import { expect, test } from 'vitest'
import { ConnectionLostError, type Driver, type ServerInfo, ServerReplyError } from '../../driver.ts'
import { UnsupportedServerError } from '../errors/errors.ts'
import { Runner } from './runner.ts'
import { askInTime, checkVersion, Server } from './server.ts'

const redis = (version: string): ServerInfo => ({
  engine: 'redis',
  version,
  cluster: false,
  shardedChannels: false,
})

interface Setup {
  server: Server
  runner: Runner
  asked: () => number
}

function setup(answers: (ServerInfo | Error)[]): Setup {
  let asked = 0
  const info: Driver['info'] = async () => {
    const answer = answers[Math.min(asked, answers.length - 1)]
    asked += 1
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer')
    return answer
  }
  const driver = { info } as Driver
  return { server: new Server(driver), runner: new Runner(driver, 5000), asked: () => asked }
}

test('concurrent callers share one question', async () => {
  const { server, asked } = setup([redis('7.0.15')])

  const infos = await Promise.all([server.ask(), server.ask(), server.ask()])

  expect(infos.map(({ version }) => version)).toEqual(['7.0.15', '7.0.15', '7.0.15'])
  expect(asked()).toBe(1)
  expect(server.info?.version).toBe('7.0.15')
})

test('a failed question is repeated', async () => {
  const { server } = setup([new Error('no connection'), redis('7.0.15')])

  await expect(server.ask()).rejects.toThrow('no connection')
  expect(server.info).toBeNull()
  expect((await server.ask()).version).toBe('7.0.15')
})

test('after a broken connection, or while the server is loading, the question is repeated until the deadline', async () => {
  const { server, runner, asked } = setup([
    new ConnectionLostError('gone', true),
    new ServerReplyError('LOADING the dataset'),
    redis('7.0.15'),
  ])

  expect((await askInTime(server, runner, 5000)).version).toBe('7.0.15')
  expect(asked()).toBe(3)
})

test('a slow answer is awaited without another question', async () => {
  let asked = 0
  const info: Driver['info'] = async () => {
    asked += 1
    await new Promise((resolve) => setTimeout(resolve, 30))
    return redis('7.0.15')
  }

  const driver = { info } as Driver

  const { version } = await askInTime(new Server(driver), new Runner(driver, 5000), 5000)

  expect(version).toBe('7.0.15')
  expect(asked).toBe(1)
})

test('a server that does not answer is unreachable, and a rejection is final', async () => {
  const away = setup([new ConnectionLostError('gone', false)])
  const shut = setup([new ServerReplyError('NOAUTH Authentication required.')])

  await expect(askInTime(away.server, away.runner, 60)).rejects.toMatchObject({ code: 'unreachable' })
  await expect(askInTime(shut.server, shut.runner, 60_000)).rejects.toMatchObject({ code: 'forbidden' })
  expect(shut.asked()).toBe(1)
})

test.each([
  ['LOADING Redis is loading the dataset in memory', 'busy'],
  ['BUSY Redis is busy running a script.', 'busy'],
  ['READONLY You cannot write against a read only replica.', 'store-read-only'],
])('a server that answers %s until the deadline is not unreachable, but %s', async (said, code) => {
  const { server, runner } = setup([new ServerReplyError(said)])

  await expect(askInTime(server, runner, 60)).rejects.toMatchObject({ code })
})

test('a closed instance asks no more', async () => {
  const { server, runner, asked } = setup([new ConnectionLostError('gone', false)])
  const asking = askInTime(server, runner, 3_600_000)

  runner.close()

  await expect(asking).rejects.toMatchObject({ code: 'closed' })
  await expect(askInTime(server, runner, 3_600_000)).rejects.toMatchObject({ code: 'closed' })
  expect(asked()).toBe(1)
})

test('without the right to INFO the least is assumed', async () => {
  const { server } = setup([new ServerReplyError('NOPERM this user has no permissions to run INFO')])

  expect(await server.ask()).toEqual({ engine: 'other', version: '', cluster: false, shardedChannels: false })
})

test.each([
  ['6.0.16', '6.2.0'],
  ['5.0.0', '6.2.0'],
  ['6.2.1', '6.2.2'],
  ['6.2', '7.0.0'],
])('a server of version %s is rejected when %s is required', (version, since) => {
  expect(() => checkVersion(redis(version), since, 'feed')).toThrow(UnsupportedServerError)
  expect(() => checkVersion(redis(version), since, 'feed')).toThrow(`feed needs Redis ${since}`)
})

test.each([
  ['6.2.0', '6.2.0'],
  ['7.0.15', '6.2.0'],
  ['10.0.0', '9.9.9'],
  ['', '6.2.0'],
])('a server of version "%s" is accepted when %s is required', (version, since) => {
  expect(() => checkVersion(redis(version), since, 'feed')).not.toThrow()
})
