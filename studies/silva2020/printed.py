"""What was printed: the benchmark's own table, and the floor that a description of the benchmark states for it."""

# Table 3 of the paper, in the order of its code: sample controller, El Centro times 0.4, nominal plant
BASELINE = {
    1: (4.6, 10.4, 11.5, 36.1, 19.0, 32.3, 32.4, 14.8, 14.8),
    2: (4.6, 9.8, 11.1, 33.1, 17.1, 30.5, 30.5, 15.3, 15.2),
    3: (4.6, 9.1, 10.2, 49.9, 36.7, 49.8, 49.8, 35.5, 35.6),
    4: (4.6, 10.5, 11.3, 72.6, 35.2, 68.5, 68.7, 33.4, 33.3),
}
# perfect tracking, with the noise of the sensors and the late force
FLOOR = {
    1: {"delay": 0.0, "tracking": 2.52, "tracking_peak": 1.88, "floor1": 3.10, "floor2": 1.78, "floor3": 1.78},
    2: {"delay": 0.0, "tracking": 2.37, "tracking_peak": 1.82, "floor1": 2.92, "floor2": 1.69, "floor3": 1.69},
    3: {"delay": 0.0, "tracking": 1.55, "tracking_peak": 1.33, "floor1": 2.98, "floor2": 2.53, "floor3": 2.53},
    4: {"delay": 0.0, "tracking": 1.95, "tracking_peak": 1.67, "floor1": 3.60, "floor2": 3.01, "floor3": 3.02},
}
