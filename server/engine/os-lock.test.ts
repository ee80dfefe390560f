import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { EngineError } from './engine.ts'
import { obstacleToWriting } from './home.ts'
import { DirectoryLock } from './os-lock.ts'

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'perilune-lock-'))
  onTestFinished(() => rmSync(made, { recursive: true }))
  return made
}

const PATH = process.env['PATH']

test('one lock on a directory is held at a time, and free after its release', async () => {
  const place = directory()
  const [first, second] = [new DirectoryLock(place, PATH), new DirectoryLock(place, PATH)]

  expect([await first.take(), await first.take(), await second.take()]).toEqual([true, true, false])
  first.release()
  expect([await second.take(), await first.take()]).toEqual([true, false])
  second.release()
})

test('a process that inherits it holds it until that process ends, whatever happens to its parent', async () => {
  const place = directory()
  const [first, second] = [new DirectoryLock(place, PATH), new DirectoryLock(place, PATH)]
  await first.take()
  const stdio = ['ignore', 'ignore', 'ignore', first.descriptor] as const
  const heir = spawn('sleep', ['1000'], { stdio: [...stdio] })
  await once(heir, 'spawn')

  first.release()
  expect(await second.take()).toBe(false)
  heir.kill('SIGKILL')
  await once(heir, 'exit')
  expect(await second.take()).toBe(true)
  second.release()
})

test('locks on two directories are independent', async () => {
  const [first, second] = [new DirectoryLock(directory(), PATH), new DirectoryLock(directory(), PATH)]

  expect([await first.take(), await second.take()]).toEqual([true, true])
  first.release()
  second.release()
})

test.skipIf(process.platform !== 'linux')(
  'a machine that cannot lock is reported in one clear line',
  async () => {
    const lock = new DirectoryLock(directory(), PATH, null)

    await expect(lock.take()).rejects.toThrow(EngineError)
    await expect(lock.take()).rejects.toThrow(
      /^cannot lock the data directory .*: there is no flock on PATH \(it is part of util-linux and of BusyBox\); set PERILUNE_DATA to a directory on a local disk, or set REDIS_URL$/,
    )
  },
)

test.skipIf(process.platform !== 'linux')('a full disk is reported as such', () => {
  const place = directory()
  symlinkSync('/dev/full', join(place, 'full'))

  expect(obstacleToWriting(join(place, 'full'))).toBe('its disk is full (ENOSPC)')
  expect(obstacleToWriting(join(place, 'other'))).toBe(null)
  expect(obstacleToWriting(join(place, 'none', 'other'))).toBe('ENOENT')
})
