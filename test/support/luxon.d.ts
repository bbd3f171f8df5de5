// The part of luxon that schedule.test.ts uses; luxon comes without types.
declare module 'luxon' {
  export interface DateTime {
    year: number;
    month: number;
    day: number;
    /** Day of the week; 1 is Monday. */
    weekday: number;
    toMillis(): number;
    toFormat(format: string): string;
    /** Every instant at which the clocks show this time: two if the time occurs twice when clocks are set back, otherwise one. */
    getPossibleOffsets(): DateTime[];
  }
  export const DateTime: {
    fromMillis(milliseconds: number, options: { zone: string }): DateTime;
    fromObject(
      wall: { year: number; month: number; day: number; hour?: number; minute?: number },
      options: { zone: string },
    ): DateTime;
  };
  export const IANAZone: { create(name: string): { offset(milliseconds: number): number } };
}
