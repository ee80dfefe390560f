// OpenStack's own client is the judge of /v2. Needs Debian's python3-zaqarclient; without it this fails.

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { startReceiver } from '../../server/zaqar/testing/receiver.ts'
import { startProgram } from './service.ts'

const PYTHON = '/usr/bin/python3' // the one that Debian's packages belong to
const script = fileURLToPath(new URL('drive.py', import.meta.url))

test('the real client works in every call that it has', async () => {
  await using service = await startProgram({
    REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}`,
    PERILUNE_NAMESPACE: `t-${randomUUID()}`,
    PERILUNE_WEBHOOK_ALLOW: '127.0.0.1',
  })
  await using hook = await startReceiver()

  const run = promisify(execFile)(PYTHON, ['-B', script, service.url, hook.url, `${hook.url}2`])
  const { stdout, stderr } = await run.catch((failure: { stdout: string; stderr: string }) => failure)

  process.stdout.write(stdout)
  expect(stdout + stderr).toMatch(/^\d+ passed, 0 failed$/m)
  await hook.wait(3, ({ json }) => json.Message_Type === 'SubscriptionConfirmation')
})
