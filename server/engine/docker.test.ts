import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ask, until } from '../../test/servers/ask.ts'
import {
  type Machine,
  portOf,
  REAL_SERVER,
  setting,
  setup,
  setupWithRedis,
  startAndKillService,
  useRedis,
} from './engine-fixture.ts'
import { findExecutable } from './executable.ts'

describe('a server in Docker', () => {
  test('is started on the data directory and stopped', async () => {
    const machine = setup()
    installDocker(machine)

    const engine = await machine.start()

    expect(engine).toMatchObject({ kind: 'docker', keepsData: true, warnings: [] })
    expect(engine.durability).toContain('fsync every second')
    expect(await setting(engine, 'dir')).toContain(join(machine.directory, 'redis'))
    await engine.stop()
    await until('it has ended', async () =>
      ask(portOf(engine), 'PING').then(
        () => false,
        () => true,
      ),
    )
  })

  test('is taken over when the service that started it was killed', async () => {
    const machine = setup()
    installDocker(machine)
    const killed = await startAndKillService(machine)

    const engine = await machine.start()

    expect(engine.url).toBe(killed)
  })

  test('is only one, however many services start on the directory at once', async () => {
    const machine = setup()
    const docker = installDocker(machine)

    const starts = await Promise.allSettled([machine.start(), machine.start()])

    expect(starts.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(docker.calls('run')).toHaveLength(1)
    expect(docker.calls('update')).toEqual([
      expect.stringMatching(/^update --restart on-failure perilune-\w+$/),
    ])
  })

  test('continues if a redis-server is installed after its service was killed, and stays the only one', async () => {
    const machine = setup()
    const docker = installDocker(machine)
    const killed = await startAndKillService(machine)
    useRedis(machine)

    const engine = await machine.start()

    expect([engine.kind, engine.url]).toEqual(['docker', killed])
    expect(machine.servers()).toEqual([])
    await engine.stop()
    expect((await machine.start()).kind).toBe('spawned')
    expect(docker.calls('run')).toHaveLength(1)
  })

  test('that a killed service has left stays the only one while Docker does not answer', async () => {
    const machine = setup()
    installDocker(machine)
    const killed = await startAndKillService(machine)
    useRedis(machine)
    machine.program('docker', 'exit 1')

    await expect(machine.start()).rejects.toThrow(
      /^the Docker container perilune-\w+ of a service that was killed may still have the data in .*, and Docker does not answer: start Docker/,
    )
    expect(machine.servers()).toEqual([])
    await ask(Number(new URL(killed).port), 'SHUTDOWN', 'NOSAVE').catch(() => undefined)
  })

  test('does not start on the data of a redis-server that a killed service has left', async () => {
    const machine = setupWithRedis()
    const killed = await startAndKillService(machine)
    rmSync(join(machine.path, 'redis-server'))
    const docker = installDocker(machine)

    const engine = await machine.start()

    expect([engine.kind, engine.url]).toEqual(['spawned', killed])
    expect(docker.calls('run')).toEqual([])
  })

  test('is skipped when the engine does not answer', async () => {
    const machine = setup()
    machine.program('docker', 'exit 1')

    expect((await machine.start()).kind).toBe('embedded')
  })

  test('is skipped, with its reason, when the container cannot be started', async () => {
    const machine = setup()
    machine.program('docker', '[ "$1" = info ] || { echo "no such image" >&2; exit 125; }')

    expect((await machine.start()).kind).toBe('embedded')
    expect(machine.said.at(-1)).toBe('Docker could not start redis:7: no such image')
  })
})

// A fake Docker: a "container" is a real redis-server whose port and pid are in a file.
function installDocker(machine: Machine): { calls(verb: string): string[] } {
  const bin = machine.path
  symlinkSync(findExecutable(['rm'], process.env['PATH']) ?? '', join(bin, 'rm'))
  machine.program(
    'docker',
    `state="${bin}/container"
echo "$*" >>"${bin}/docker-calls"
case "$1" in
  info) exit 0 ;;
  run)
    while [ "$1" != redis-server ]; do
      case "$1" in -p) published="$2" ;; -v) data="\${2%:/data}" ;; esac
      shift
    done
    shift
    port="\${published#127.0.0.1:}"; port="\${port%:6379}"
    ${REAL_SERVER} "$@" --port "$port" --dir "$data" >/dev/null 2>&1 &
    echo "$port $!" >"$state"
    echo 0123456789abcdef ;;
  port) read -r port pid <"$state" && echo "127.0.0.1:$port" ;;
  stop) read -r port pid <"$state" && kill "$pid" ;;
  rm) rm -f "$state" ;;
esac`,
  )
  return {
    calls: (verb) =>
      (existsSync(join(bin, 'docker-calls')) ? readFileSync(join(bin, 'docker-calls'), 'utf8') : '')
        .split('\n')
        .filter((line) => line.startsWith(`${verb} `)),
  }
}
