import { readFileSync } from 'node:fs'
import type { Contract } from '../../src/testing/vector-contract.ts'
import type { VectorFile } from '../../src/testing/vector-file.ts'

export const STRUCTURES = ['feed', 'catalog'] as const

export function readText(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}

export function readJson(path: string): unknown {
  return JSON.parse(readText(path))
}

export function readContract(path = '../../lua/contract.json'): Contract {
  return readJson(path) as Contract
}

export function readVectors(structure: string): VectorFile {
  return readJson(`${structure}.json`) as VectorFile
}
