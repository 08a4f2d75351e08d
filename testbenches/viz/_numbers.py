"""The numbers of a record of a run: LEB128, as lpnviz/README.md says."""


class Numbers:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.next()
        return value >> 1 if value % 2 == 0 else -((value + 1) >> 1)
