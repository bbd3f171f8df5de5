// Instance types: the CPUs, memory and disk of a mission.

import type { InstanceTypeId } from './model.ts';

export interface InstanceType {
  id: InstanceTypeId;
  label: string;
  vcpu: number;
  /** Memory of the instance type in MiB. */
  memory: number;
  /** Disk space of the instance type in GB. */
  disk: number;
}

export const instanceTypes: readonly InstanceType[] = [
  { id: 'lite', label: 'Lite', vcpu: 0.0625, memory: 256, disk: 2 },
  { id: 'basic', label: 'Basic', vcpu: 0.25, memory: 1_024, disk: 4 },
  { id: 'standard-1', label: 'Standard 1', vcpu: 0.5, memory: 4_096, disk: 8 },
  { id: 'standard-2', label: 'Standard 2', vcpu: 1, memory: 6_144, disk: 12 },
  { id: 'standard-4', label: 'Standard 4', vcpu: 4, memory: 12_288, disk: 20 },
];

/**
 * The type that is recorded for a mission without a choice. Such a mission gets the memory of this type, without limits on CPUs and disk.
 */
export const defaultInstanceType: InstanceTypeId = 'standard-1';

const sizeOf = (type: InstanceTypeId) => instanceTypes.find(({ id }) => id === type)!;

/** CPUs, memory and disk that a runtime has for one mission; absent when it does not report them. */
export interface Room {
  cpus?: number | null | undefined;
  memoryMb?: number | null | undefined;
  diskMb?: number | null | undefined;
}

/** The types for which the runtime has room; null means all, because the runtime reports no sizes. */
export function typesWithin({ cpus, memoryMb, diskMb }: Room): InstanceTypeId[] | null {
  if (cpus == null && memoryMb == null && diskMb == null) return null;
  const fits = (room: number | null | undefined, wanted: number) => room == null || room >= wanted;
  return instanceTypes
    .filter((type) => fits(cpus, type.vcpu) && fits(memoryMb, type.memory) && fits(diskMb, type.disk * 1_024))
    .map(({ id }) => id);
}

export interface MissionSize {
  instanceType: InstanceTypeId;
  /** Number of CPUs; null means all CPUs of the runtime. */
  cpus: number | null;
  memoryMb: number;
  /** Disk space in MB; null means as much as the runtime allows. */
  diskMb: number | null;
}

/** The size of a mission: the chosen type, with memory and disk replaced by the limits of its sandbox template, if any. */
export function sizeOfMission(
  chosen: InstanceTypeId | null,
  { memoryMb, diskMb }: { memoryMb: number | null; diskMb: number | null },
): MissionSize {
  const type = sizeOf(chosen ?? defaultInstanceType);
  return {
    instanceType: type.id,
    cpus: chosen ? type.vcpu : null,
    memoryMb: memoryMb ?? type.memory,
    diskMb: diskMb ?? (chosen ? type.disk * 1_024 : null),
  };
}

/** The reason recorded on a run for which no connected runtime has room. */
export const noRoomFor = (type: InstanceTypeId): string => {
  const { vcpu, memory, disk } = sizeOf(type);
  return `No connected runtime has room for the instance type ${type}: ${vcpu} CPUs, ${memory} MiB of memory and ${disk} GiB of disk.`;
};

/** SQL for the reason recorded on a run for which no connected runtime has room. @param type The column with the instance type. */
export const noRoomSql = (column: string): string =>
  `case ${column} ${instanceTypes.map(({ id }) => `when '${id}' then '${noRoomFor(id)}'`).join(' ')} end`;
